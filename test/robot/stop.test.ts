import { expect } from 'chai';
import { asRobotError, RobotError } from '../../src/core/errors.js';
import { defaultGains, perUnit, type UnitName, unitNamed } from '../../src/core/units.js';
import { problemOf } from '../../src/http/problems.js';
import { MODE_VALUES, REGISTERS } from '../../src/protocol/registers.js';
import { ClockedRobot, type Frame, somebodyElse, write } from '../support/clocked-robot.js';

const isWrite = (frame: Frame, unit: string, register: string) =>
  frame.kind === 'write' && frame.unit === unit && frame.register === register;

const silence = (ms: number, beforeMs = ms) => ({ silence: perUnit(() => ({ beforeMs, givenMs: ms })) });
const UNITS: readonly UnitName[] = ['gimbal', 'chassis'];

describe('the stop', () => {
  let robot: ClockedRobot;
  afterEach(() => robot.end());
  const units = () => robot.robot.units;
  const latched = () => UNITS.map(unit => robot.truth(unit).stopped);

  it('darkens and latches, and is confirmed by both controllers', async () => {
    robot = await ClockedRobot.start();
    robot.robot.laserOn();
    const stop = robot.robot.stop();
    expect([robot.level, robot.robot.stopped]).to.deep.equal([0, true]);
    expect(await robot.outcome(stop)).to.equal(200);
    expect(latched()).to.deep.equal([true, true]);
  });

  for (const [name, settings, expected, withinMs] of [
    ['once its own silence rule has taken torque off', silence(500), 200, 800],
    ['not while it may bear longer silence', silence(2000), 'not-confirmed', 801],
    ['not when it bears silence for ever', silence(0), 'not-confirmed', 801],
  ] as const) {
    it(`counts a controller that was unplugged just now: ${name}`, async () => {
      robot = await ClockedRobot.start(settings);
      robot.fault('gimbal', 'unplug');
      const startMs = robot.clock.nowMs();
      expect(await robot.outcome(robot.robot.stop())).to.equal(expected);
      expect(robot.clock.nowMs() - startMs).to.be.at.most(withinMs + 10);
      expect([robot.robot.stopped, robot.truth('chassis').stopped]).to.deep.equal([true, true]);
      if (expected === 200) expect(robot.truth('gimbal').torque).to.equal(false);
      robot.fault('gimbal', 'plug');
      await robot.wait(1200);
      expect(robot.truth('gimbal').stopped).to.equal(true);
    });
  }

  it('names every unit that did not confirm', async () => {
    robot = await ClockedRobot.start(silence(0));
    robot.fault('bus', 'nack');
    const refusal = await robot.during(robot.robot.stop().catch(error => error));
    expect(refusal.context).to.deep.include({ unit: 'gimbal', units: ['gimbal', 'chassis'] });
  });

  it('names them also where the pin fails as well', async () => {
    robot = await ClockedRobot.start(silence(0));
    robot.robot.laserOn();
    robot.fault('bus', 'nack');
    robot.fault('pin', 'nack');
    const refusal = await robot.during(robot.robot.stop().catch(error => error));
    const { problem } = problemOf(asRobotError(refusal));
    expect(problem).to.deep.include({
      code: 'pin-failed',
      also: ['not-confirmed'],
      unit: 'gimbal',
      units: ['gimbal', 'chassis'],
    });
    expect(problem.detail).to.match(/Cut the laser supply.*not confirmed by: gimbal, chassis/);
  });

  for (const [beforeMs, waitMs, expected] of [
    [500, 0, 200],
    [2000, 0, 'not-confirmed'],
    [2000, 2000, 200],
    [Number.POSITIVE_INFINITY, 5000, 'not-confirmed'],
  ] as const) {
    it(`of a controller never heard from that may bear ${beforeMs} ms is ${expected} after ${waitMs} ms`, async () => {
      robot = await ClockedRobot.start();
      robot.fault('gimbal', 'unplug');
      await robot.end();
      robot = await ClockedRobot.start(silence(500, beforeMs));
      robot.fault('gimbal', 'unplug');
      await robot.restart();
      await robot.wait(waitMs);
      expect(await robot.outcome(robot.robot.stop())).to.equal(expected);
    });
  }

  it('is not proven by a silence that the controller was never given, after a resume that it missed', async () => {
    const forEver = { beforeMs: Number.POSITIVE_INFINITY, givenMs: 0 };
    const settings = { silence: { ...silence(500).silence, chassis: forEver } };
    robot = await ClockedRobot.start(settings);
    await robot.wait(100);
    expect(await robot.outcome(robot.robot.stop())).to.equal(200);
    robot.fault('chassis', 'unplug');
    // The next daemon is configured otherwise.
    settings.silence.chassis = { ...forEver, givenMs: 500 };
    await robot.restart();
    expect(await robot.outcome(robot.robot.resume())).to.equal(200);
    let isGone = false;
    robot.intercept = ({ unit, register }) => {
      if (unit !== 'chassis' || register !== 'heartbeat') return undefined;
      isGone = true;
      robot.fault('chassis', 'unplug');
      return 'fails';
    };
    robot.fault('chassis', 'plug');
    while (!isGone) await robot.wait(1);
    await robot.wait(600);
    expect(robot.truth('chassis').torque).to.equal(true);
    expect(await robot.outcome(robot.robot.stop())).to.equal('not-confirmed');
  });

  it('counts a heartbeat that the bus still holds', async () => {
    robot = await ClockedRobot.start();
    let holding = true;
    robot.intercept = async frame => {
      if (!isWrite(frame, 'gimbal', 'heartbeat')) return undefined;
      while (holding) await new Promise<void>(resolve => robot.clock.after(5, resolve));
      return undefined;
    };
    await robot.wait(100);
    expect(await robot.outcome(robot.robot.stop())).to.equal('not-confirmed');
    holding = false;
    await robot.wait(200);
    expect(latched()).to.deep.equal([true, true]);
  });

  it('comes before heartbeats and gains when a controller was reset', async () => {
    robot = await ClockedRobot.start();
    await robot.during(robot.robot.stop());
    for (const pauseMs of [0, 1, 3, 7, 11, 19]) {
      await robot.wait(pauseMs);
      robot.fault('gimbal', 'brownout');
      const save = units().gimbal.gains.save({
        ...defaultGains(unitNamed('gimbal')),
        angle_yaw: { kp: pauseMs, ki: 1, kd: 1 },
      });
      let torque = false;
      robot.intercept = () => {
        torque ||= robot.truth('gimbal').torque;
        return undefined;
      };
      await robot.outcome(save);
      await robot.wait(200);
      expect([torque, robot.truth('gimbal').stopped, robot.truth('gimbal').gains !== null]).to.deep.equal([
        false,
        true,
        true,
      ]);
    }
  });

  it('wins over a resume, whichever came first, and each 200 holds', async () => {
    robot = await ClockedRobot.start();
    for (let round = 0; round < 60; round += 1) {
      await robot.during(robot.robot.stop());
      const resume = robot.outcome(robot.robot.resume());
      let frames = round;
      const overtaken = new Promise<void>(resolve => {
        robot.intercept = () => {
          frames -= 1;
          if (frames === 0) resolve();
          return undefined;
        };
        if (round === 0) resolve();
        robot.clock.after(100, resolve);
      });
      let hasBegun = false;
      const stop = robot.outcome(
        overtaken.then(() => {
          hasBegun = true;
          return robot.robot.stop();
        }),
      );
      const wasOvertaken = resume.then(() => hasBegun);
      expect(await stop, `round ${round}`).to.equal(200);
      expect(await resume, `round ${round}`).to.equal((await wasOvertaken) ? 'stopped' : 200);
      expect([...latched(), robot.robot.stopped], `round ${round}`).to.deep.equal([true, true, true]);
      await robot.wait(60);
      expect([...latched(), robot.robot.stopped], `round ${round}`).to.deep.equal([true, true, true]);
    }
  });

  it('latches no controller again that was released meanwhile', async () => {
    robot = await ClockedRobot.start();
    await robot.during(robot.robot.stop());
    let release = (): void => undefined;
    let isHeld = false;
    robot.intercept = async frame => {
      if (isHeld || frame.kind !== 'write' || frame.unit !== 'gimbal' || frame.register !== 'stop')
        return undefined;
      isHeld = true;
      await new Promise<void>(resolve => {
        release = resolve;
      });
      // The controller refuses the frame, because a bit is flipped.
      robot.fault('gimbal', 'corrupt', 1);
      return undefined;
    };
    robot.fault('gimbal', 'brownout');
    for (let ms = 0; !isHeld && ms < 200; ms += 1) await robot.wait(1);
    const resumed = robot.robot.resume();
    await robot.wait(5);
    robot.frames.length = 0;
    release();
    expect(await robot.outcome(resumed)).to.equal(200);
    await robot.wait(100);
    const latches = robot.frames.filter(frame => isWrite(frame, 'gimbal', 'stop') && frame.data === '01');
    expect(latches).to.deep.equal([]);
  });

  it('refuses a resume while it is under way', async () => {
    robot = await ClockedRobot.start();
    const stop = robot.outcome(robot.robot.stop());
    expect(await robot.outcome(robot.robot.resume())).to.equal('stopped');
    expect(await stop).to.equal(200);
    await robot.wait(100);
    expect([...latched(), robot.robot.stopped]).to.deep.equal([true, true, true]);
  });

  it('ends with a resume for as long as one of those who asked for it has not hung up', async () => {
    robot = await ClockedRobot.start();
    for (const [staying, outcome] of [
      [1, 200],
      [0, 'caller-gone'],
    ] as const) {
      await robot.during(units().gimbal.setMode('auto'));
      await robot.during(robot.robot.stop());
      let callers = 2;
      robot.intercept = frame => {
        if (isWrite(frame, 'gimbal', 'mode')) callers = staying;
        return undefined;
      };
      const resumes = [0, 1].map(caller =>
        robot.outcome(
          robot.robot.resume(() => {
            if (caller >= callers) throw new RobotError('caller-gone');
          }),
        ),
      );
      expect(await Promise.all(resumes)).to.deep.equal([outcome, outcome]);
      expect(latched()).to.deep.equal([staying === 0, staying === 0]);
    }
  });

  for (const when of ['waits for the disk', 'latches again'] as const) {
    it(`ends with a resume that comes while another one is given up and ${when}`, async () => {
      robot = await ClockedRobot.start();
      await robot.during(robot.robot.stop());
      let other: Promise<string | 200> | undefined;
      robot.intercept = frame => {
        if (isWrite(frame, 'gimbal', 'stop') && frame.data === '01')
          other ??= robot.outcome(robot.robot.resume());
        return undefined;
      };
      if (when === 'waits for the disk')
        robot.disk.interfere = () => new Promise(resolve => robot.clock.after(30, resolve));
      let asked = 0;
      const hangsUp = () => {
        asked += 1;
        if (asked > 1) throw new RobotError('caller-gone');
      };
      const gone = robot.outcome(robot.robot.resume(hangsUp));
      if (when === 'waits for the disk') {
        await robot.wait(20);
        other = robot.outcome(robot.robot.resume());
      }
      expect(await gone).to.equal('caller-gone');
      expect(await other).to.equal(200);
      expect([robot.robot.stopped, ...latched()]).to.deep.equal([false, false, false]);
    });
  }

  it('that came after a resume was asked for is not undone by it, although another resume is given up', async () => {
    robot = await ClockedRobot.start();
    await robot.during(robot.robot.stop());
    robot.fault('chassis', 'unplug');
    await robot.wait(300);
    robot.disk.interfere = () => new Promise(resolve => robot.clock.after(60, resolve));
    let asked = 0;
    const hangsUp = () => {
      asked += 1;
      if (asked > 1) throw new RobotError('caller-gone');
    };
    const gone = robot.outcome(robot.robot.resume(hangsUp));
    await robot.wait(20);
    const other = robot.outcome(robot.robot.resume());
    await robot.wait(5);
    const stopped = robot.outcome(robot.robot.stop());
    expect([await gone, await other]).to.deep.equal(['stopped', 'stopped']);
    await stopped;
    expect([robot.robot.stopped, robot.truth('gimbal').stopped]).to.deep.equal([true, true]);
  });

  it('changes nothing by a resume that is refused, running or stopped', async () => {
    robot = await ClockedRobot.start();
    await robot.during(units().chassis.setMode('auto'));
    await robot.during(units().gimbal.setMode('debug'));
    const refuseGimbal = () => {
      robot.intercept = frame => (isWrite(frame, 'gimbal', 'stop') ? 'fails' : undefined);
      return robot.outcome(robot.robot.resume());
    };
    expect(await refuseGimbal()).to.equal('nack');
    robot.intercept = () => undefined;
    await robot.wait(300);
    expect(UNITS.map(unit => robot.truth(unit).mode)).to.deep.equal(['debug', 'auto']);

    await robot.during(robot.robot.stop());
    expect(await refuseGimbal()).to.equal('nack');
    robot.intercept = () => undefined;
    await robot.wait(60);
    expect([...latched(), robot.robot.stopped]).to.deep.equal([true, true, true]);
  });

  it('reaches a controller at once that is being taken in after a resume it missed', async () => {
    robot = await ClockedRobot.start();
    await robot.during(units().gimbal.setMode('auto'));
    await robot.during(robot.robot.stop());
    robot.fault('gimbal', 'unplug');
    await robot.wait(3000);
    expect(await robot.outcome(robot.robot.resume())).to.equal(200);
    robot.fault('gimbal', 'plug');
    let stop: Promise<string | 200> | undefined;
    robot.intercept = frame => {
      if (isWrite(frame, 'gimbal', 'stop')) stop ??= robot.outcome(robot.robot.stop());
      return undefined;
    };
    for (let ms = 0; stop === undefined && ms < 2000; ms += 1) await robot.wait(1);
    expect(await stop).to.equal(200);
    expect(robot.truth('gimbal').torque).to.equal(false);
    await robot.wait(100);
    expect(latched()).to.deep.equal([true, true]);
  });

  for (const [end, outcome] of [
    ['holds', 200],
    ['is refused', 'not-confirmed'],
  ] as const) {
    it(`gives no torque to a controller that appears in auto while a resume is under way which ${end}`, async () => {
      robot = await ClockedRobot.start();
      await robot.during(units().gimbal.setMode('auto'));
      await robot.wait(100);
      robot.fault('gimbal', 'unplug');
      await robot.wait(1500);
      expect(await robot.outcome(robot.robot.stop())).to.equal(200);
      const torqueIn = new Set<string>();
      let appears = false;
      robot.intercept = async frame => {
        const { mode, torque } = robot.truth('gimbal');
        if (torque) torqueIn.add(mode);
        appears ||= isWrite(frame, 'gimbal', 'heartbeat');
        // The resume waits for the chassis, which does not go into manual.
        if (frame.unit === 'chassis' && frame.register === 'status' && !(appears && outcome === 200))
          await write(robot, 'chassis', REGISTERS.mode, { mode: MODE_VALUES.auto ?? 0 });
        return undefined;
      };
      const resume = robot.outcome(robot.robot.resume());
      robot.fault('gimbal', 'plug');
      expect(await resume).to.equal(outcome);
      await robot.wait(300);
      expect(appears).to.equal(true);
      expect([...torqueIn]).to.deep.equal(outcome === 200 ? ['manual'] : []);
      const { mode, torque } = robot.truth('gimbal');
      expect([mode, torque]).to.deep.equal(outcome === 200 ? ['manual', true] : ['auto', false]);
    });
  }

  it('finds a controller in manual that missed the resume before it', async () => {
    robot = await ClockedRobot.start();
    await robot.during(units().gimbal.setMode('debug'));
    await robot.wait(100);
    robot.fault('gimbal', 'unplug');
    await robot.wait(600);
    expect(await robot.outcome(robot.robot.resume())).to.equal(200);
    expect(await robot.outcome(robot.robot.stop())).to.equal(200);
    robot.fault('gimbal', 'plug');
    await robot.wait(1500);
    expect(robot.truth('gimbal')).to.deep.include({ mode: 'manual', stopped: true });
  });

  it('is that of the robot when a controller latched by itself, and survives the daemon', async () => {
    robot = await ClockedRobot.start();
    robot.robot.laserOn();
    await robot.during(somebodyElse(robot, 'chassis', REGISTERS.stop, { stop: 1 }));
    await robot.wait(100);
    expect([robot.level, robot.robot.stopped, ...latched()]).to.deep.equal([0, true, true, true]);
    await robot.restart();
    await robot.wait(100);
    expect(robot.robot.stopped).to.equal(true);
  });

  it('is followed by manual, although polls come between the parts of a resume', async () => {
    robot = await ClockedRobot.start();
    await robot.during(units().gimbal.setMode('auto'));
    await robot.during(robot.robot.stop());
    let held = 0;
    robot.intercept = async frame => {
      if (!isWrite(frame, 'chassis', 'mode') || held > 3) return undefined;
      held += 1;
      await new Promise<void>(resolve => robot.clock.after(25, resolve));
      return 'fails';
    };
    let outcome = await robot.outcome(robot.robot.resume());
    if (outcome !== 200) outcome = await robot.outcome(robot.robot.resume());
    expect([outcome, robot.truth('gimbal').mode]).to.deep.equal([200, 'manual']);
    await robot.wait(100);
    expect(robot.truth('gimbal').mode).to.equal('manual');
  });

  it('is found at a start although the first frames are noise', async () => {
    robot = await ClockedRobot.start();
    await robot.during(robot.robot.stop());
    robot.fault('bus', 'corrupt', 7);
    await robot.restart();
    expect(robot.robot.stopped).to.equal(true);
    expect(() => robot.robot.laserOn()).to.throw('stopped');
  });

  it('keeps its word while a save is under way, and the save keeps its own', async () => {
    robot = await ClockedRobot.start();
    const gains = { ...defaultGains(unitNamed('chassis')), speed: { kp: 1, ki: 2, kd: 3 } };
    const save = robot.outcome(units().chassis.gains.save(gains));
    await robot.wait(1);
    expect(await robot.outcome(robot.robot.stop())).to.equal(200);
    expect(robot.truth('chassis').stopped).to.equal(true);
    expect(await save).to.equal(200);
    expect(robot.truth('chassis').gains?.speed?.kp).to.equal(1);
  });

  describe('through a restart at which no controller can be reached', () => {
    const restartUnplugged = async () => {
      for (const unit of UNITS) robot.fault(unit, 'unplug');
      await robot.restart();
    };

    /** The disk takes its time, until the returned act ends what waits for it as a kill does. */
    const slowly = () => {
      let isKilled = false;
      robot.disk.interfere = async () => {
        await new Promise<void>(resolve => robot.clock.after(30, resolve));
        if (isKilled) await new Promise(() => undefined);
      };
      return () => {
        isKilled = true;
        robot.disk.interfere = async () => undefined;
      };
    };

    it('holds, and lets nobody light', async () => {
      robot = await ClockedRobot.start();
      await robot.during(robot.robot.stop());
      await restartUnplugged();
      expect(robot.robot.stopped).to.equal(true);
      expect(() => robot.robot.laserOn())
        .to.throw(RobotError)
        .with.property('code', 'stopped');
    });

    it('is over after a resume', async () => {
      robot = await ClockedRobot.start();
      await robot.during(robot.robot.stop());
      expect(await robot.outcome(robot.robot.resume())).to.equal(200);
      await restartUnplugged();
      expect(robot.robot.stopped).to.equal(false);
    });

    it('holds that was answered 200 while no controller could be reached, also on a slow disk', async () => {
      robot = await ClockedRobot.start();
      for (const unit of UNITS) robot.fault(unit, 'unplug');
      await robot.wait(1000);
      const kill = slowly();
      expect(await robot.outcome(robot.robot.stop())).to.equal(200);
      kill();
      await robot.restart();
      expect(robot.robot.stopped).to.equal(true);
    });

    it('holds after a resume that was given up there', async () => {
      robot = await ClockedRobot.start();
      for (const unit of UNITS) robot.fault(unit, 'unplug');
      await robot.wait(1000);
      expect(await robot.outcome(robot.robot.stop())).to.equal(200);
      let asked = 0;
      const hangsUp = () => {
        asked += 1;
        if (asked > 1) throw new RobotError('caller-gone');
      };
      const kill = slowly();
      expect(await robot.outcome(robot.robot.resume(hangsUp))).to.equal('caller-gone');
      kill();
      await robot.restart();
      expect(robot.robot.stopped).to.equal(true);
    });

    it('holds after a resume that was refused', async () => {
      robot = await ClockedRobot.start();
      await robot.during(units().gimbal.setMode('auto'));
      await robot.during(robot.robot.stop());
      robot.intercept = frame => (isWrite(frame, 'gimbal', 'mode') ? 'fails' : undefined);
      expect(await robot.outcome(robot.robot.resume())).to.not.equal(200);
      await robot.wait(200);
      await restartUnplugged();
      expect(robot.robot.stopped).to.equal(true);
    });

    it('is on record until the disk says otherwise: nothing is released before', async () => {
      robot = await ClockedRobot.start();
      await robot.during(robot.robot.stop());
      const answer = robot.disk.hang();
      robot.frames.length = 0;
      const resumed = robot.robot.resume();
      await robot.wait(100);
      expect(robot.frames.filter(frame => isWrite(frame, 'gimbal', 'stop'))).to.deep.equal([]);
      expect(robot.truth('gimbal').stopped).to.equal(true);
      answer();
      expect(await robot.outcome(resumed)).to.equal(200);
    });
  });
});
