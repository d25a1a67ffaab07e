import { expect } from 'chai';
import { asRobotError, RobotError } from '../../src/core/errors.js';
import { defaultGains, MODES, type Mode, perUnit, type UnitName, unitNamed } from '../../src/core/units.js';
import { problemOf } from '../../src/http/problems.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import type { Robot } from '../../src/robot/robot.js';
import { ClockedRobot, isLike, somebodyElse, WaitingCaller, write } from '../support/clocked-robot.js';

const silence = (ms: number, beforeMs = ms) => ({ silence: perUnit(() => ({ beforeMs, givenMs: ms })) });
const UNITS: readonly UnitName[] = ['gimbal', 'chassis'];
const LATCH = { unit: 'gimbal', kind: 'write', register: 'stop', data: '01' } as const;
const MODE = { unit: 'gimbal', kind: 'write', register: 'mode' } as const;

describe('when a robot is stopped', () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
  });
  afterEach(() => robot.end());

  const begin = async (settings: Parameters<typeof ClockedRobot.start>[0]) => {
    await robot.end();
    robot = await ClockedRobot.start(settings);
  };
  const stop = () => robot.outcome(robot.robot.stop());
  const resume = (...asked: Parameters<Robot['resume']>) => robot.outcome(robot.robot.resume(...asked));
  /** A resume whose caller hangs up while the resume is in flight. */
  const givenUp = () => {
    let asked = 0;
    return resume(() => {
      asked += 1;
      if (asked > 1) throw new RobotError('caller-gone');
    });
  };
  const enters = async (unit: UnitName, mode: Mode) => {
    await robot.during(robot.robot.units[unit].setMode(mode));
    await robot.wait(100);
  };
  const unplug = async (ms: number, ...units: readonly UnitName[]) => {
    for (const unit of units) robot.fault(unit, 'unplug');
    await robot.wait(ms);
  };
  const latched = () => UNITS.map(unit => robot.truth(unit).stopped);
  /** Checks that the robot and both controllers are stopped, or that none of them is. */
  const expectStopped = (is: boolean, message?: string) =>
    expect([robot.robot.stopped, ...latched()], message).to.deep.equal([is, is, is]);

  it('and resumed, a switch to auto is refused as too late if it may have arrived before the stop', async () => {
    const pausedMs = robot.clock.nowMs();
    await robot.wait(100);
    expect([await stop(), await resume()]).to.deep.equal([200, 200]);
    const switched = (mode: Mode) => robot.outcome(robot.gimbal.setMode(mode, () => undefined, pausedMs));
    expect([await switched('auto'), await switched('manual')]).to.deep.equal(['too-late', 200]);
  });

  it('and a resume may have arrived before this stop, the resume is refused and the robot stays stopped', async () => {
    const pausedMs = robot.clock.nowMs();
    await robot.wait(100);
    await stop();
    expect(await resume(undefined, pausedMs)).to.equal('stopped');
    expectStopped(true);
    expect(await resume()).to.equal(200);
  });

  it('while the gimbal reconnects after 0.7 s without a heartbeat, the gimbal gets no torque before it is latched', async () => {
    await unplug(700, 'gimbal');
    let stopping: Promise<void> | undefined;
    const isStopping = robot.atFirst({ unit: 'gimbal', kind: 'read', register: 'guarded_excitation' }, () => {
      stopping = robot.robot.stop();
    });
    robot.fault('gimbal', 'plug');
    await robot.until(isStopping);
    await robot.during(stopping ?? Promise.reject(new Error('not stopped')));
    for (let ms = 0; ms < 100; ms += 1) {
      const { stopped, torque } = robot.truth('gimbal');
      expect([stopped, torque], `${ms} ms`).to.not.deep.equal([false, true]);
      await robot.wait(1);
    }
    expectStopped(true);
  });

  it('while its laser is on, the laser goes dark at once, and both controllers latch and confirm the stop', async () => {
    robot.robot.laser.on();
    const stopping = stop();
    expect([robot.level, robot.robot.stopped]).to.deep.equal([0, true]);
    expect(await stopping).to.equal(200);
    expectStopped(true);
  });

  for (const [name, ms, expected] of [
    ['confirmed if the gimbal cuts its own torque after 0.5 s without a heartbeat', 500, 200],
    [
      'not confirmed if the gimbal cuts its own torque only after 2 s without a heartbeat',
      2000,
      'not-confirmed',
    ],
    ['not confirmed if the gimbal never cuts its own torque', 0, 'not-confirmed'],
  ] as const) {
    it(`right after the gimbal was unplugged, the stop is ${name}`, async () => {
      await begin(silence(ms));
      robot.fault('gimbal', 'unplug');
      const startMs = robot.clock.nowMs();
      expect(await stop()).to.equal(expected);
      expect(robot.clock.nowMs() - startMs).to.be.at.most(811);
      expect([robot.robot.stopped, robot.truth('chassis').stopped]).to.deep.equal([true, true]);
      if (expected === 200) expect(robot.truth('gimbal').torque).to.equal(false);
      robot.fault('gimbal', 'plug');
      await robot.wait(1200);
      expectStopped(true);
    });
  }

  it('and neither unit confirms the stop, the answer to the stop names both units, even if the laser pin fails too', async () => {
    await begin(silence(0));
    robot.robot.laser.on();
    robot.fault('bus', 'nack');
    const refused = async () =>
      problemOf(asRobotError(await robot.during(robot.robot.stop().catch(error => error)))).problem;
    const named = { unit: 'gimbal', units: ['gimbal', 'chassis'] };
    expect(await refused()).to.deep.include({ code: 'not-confirmed', ...named });
    robot.fault('pin', 'nack');
    const problem = await refused();
    expect(problem).to.deep.include({ code: 'pin-failed', also: ['not-confirmed'], ...named });
    expect(problem.detail).to.match(/Cut the laser supply.*not confirmed by: gimbal, chassis/);
  });

  for (const [beforeMs, waitMs, expected] of [
    [500, 0, 200],
    [2000, 0, 'not-confirmed'],
    [2000, 2000, 200],
    [Number.POSITIVE_INFINITY, 5000, 'not-confirmed'],
  ] as const) {
    const mayKeep = Number.isFinite(beforeMs) ? `for up to ${beforeMs / 1000} s` : 'for ever';
    it(`${waitMs === 0 ? 'right' : `${waitMs / 1000} s`} after the daemon started, the stop is ${expected === 200 ? 'confirmed' : 'not confirmed'} if the unplugged gimbal can keep its torque ${mayKeep} without a heartbeat`, async () => {
      await begin(silence(500, beforeMs));
      robot.fault('gimbal', 'unplug');
      await robot.restart();
      await robot.wait(waitMs);
      expect(await stop()).to.equal(expected);
    });
  }

  it('and the unplugged chassis never got a heartbeat with the new limit of its host silence, the stop is not confirmed', async () => {
    const forEver = { beforeMs: Number.POSITIVE_INFINITY, givenMs: 0 };
    const settings = { silence: { ...silence(500).silence, chassis: forEver } };
    await begin(settings);
    await robot.wait(100);
    expect(await stop()).to.equal(200);
    robot.fault('chassis', 'unplug');
    // The next daemon has another configuration.
    settings.silence.chassis = { ...forEver, givenMs: 500 };
    await robot.restart();
    expect(await resume()).to.equal(200);
    const isGone = robot.atFirst({ unit: 'chassis', register: 'heartbeat' }, () =>
      robot.fault('chassis', 'unplug'),
    );
    robot.fault('chassis', 'plug');
    while (!isGone()) await robot.wait(1);
    await robot.wait(600);
    expect(robot.truth('chassis').torque).to.equal(true);
    expect(await stop()).to.equal('not-confirmed');
  });

  it('while a heartbeat to the gimbal is still on the bus, the stop is not confirmed', async () => {
    let holding = true;
    robot.each({ unit: 'gimbal', register: 'heartbeat' }, async () => {
      while (holding) await robot.pause(5);
      return undefined;
    });
    await robot.wait(100);
    expect(await stop()).to.equal('not-confirmed');
    holding = false;
    await robot.wait(200);
    expectStopped(true);
  });

  it('and the gimbal is then reset, the gimbal stays without torque even while a save sends it new gains', async () => {
    const gains = defaultGains(unitNamed('gimbal'));
    await stop();
    for (const pauseMs of [0, 1, 3, 7, 11, 19]) {
      await robot.wait(pauseMs);
      robot.fault('gimbal', 'brownout');
      const save = robot.gimbal.gains.save({ ...gains, angle_yaw: { kp: pauseMs, ki: 1, kd: 1 } });
      const underTorque = robot.torqueModes('gimbal');
      await robot.outcome(save);
      await robot.wait(200);
      expect([...underTorque]).to.deep.equal([]);
      expect(robot.truth('gimbal').gains).to.not.equal(null);
      expectStopped(true);
    }
  });

  it('during any frame of a resume, the robot stays stopped', async () => {
    for (let round = 0; round < 60; round += 1) {
      await stop();
      const resuming = resume();
      const overtaken = new Promise<void>(resolve => {
        robot.each({}, number => {
          if (number === round) resolve();
          return undefined;
        });
        if (round === 0) resolve();
        robot.clock.after(100, resolve);
      });
      let hasBegun = false;
      const stopping = overtaken.then(() => {
        hasBegun = true;
        return robot.robot.stop();
      });
      const wasOvertaken = resuming.then(() => hasBegun);
      expect(await robot.outcome(stopping), `round ${round}`).to.equal(200);
      expect(await resuming, `round ${round}`).to.equal((await wasOvertaken) ? 'stopped' : 200);
      expectStopped(true, `round ${round}`);
      await robot.wait(60);
      expectStopped(true, `round ${round}`);
    }
  });

  it('and a resume begins before the gimbal refuses a damaged stop frame, that frame is not sent again', async () => {
    await stop();
    let isReleased = false;
    const isHeld = robot.atFirst(LATCH, async () => {
      while (!isReleased) await robot.pause(1);
      // The controller refuses the frame, because a bit is flipped.
      robot.fault('gimbal', 'corrupt', 1);
    });
    robot.fault('gimbal', 'brownout');
    await robot.until(isHeld, 200);
    const resuming = robot.robot.resume();
    await robot.wait(5);
    robot.frames.length = 0;
    isReleased = true;
    expect(await robot.outcome(resuming)).to.equal(200);
    await robot.wait(100);
    expect(robot.gimbal.report().faults).to.include('frame_refused');
    expect(robot.frames.filter(frame => isLike(frame, LATCH))).to.deep.equal([]);
  });

  it('and a resume arrives while the stop is still in progress, the resume is refused', async () => {
    const stopping = stop();
    expect([await resume(), await stopping]).to.deep.equal(['stopped', 200]);
    await robot.wait(100);
    expectStopped(true);
  });

  for (const [what, staying, outcome] of [
    ['still resumes if only one of them hangs up', 1, 200],
    ['stays stopped if both of them hang up', 0, 'caller-gone'],
  ] as const) {
    it(`and two callers ask for a resume, the robot ${what}`, async () => {
      await enters('gimbal', 'auto');
      await stop();
      const callers = [new WaitingCaller(), new WaitingCaller()];
      robot.atFirst(MODE, () => {
        for (const { hangUp } of callers.slice(staying)) hangUp();
      });
      const resumes = callers.map(({ stillWanted }) => resume(stillWanted));
      expect(await Promise.all(resumes)).to.deep.equal([outcome, outcome]);
      expectStopped(staying === 0);
    });
  }

  it('and the caller of a resume hangs up while that resume waits for the disk, a second resume still succeeds', async () => {
    await stop();
    robot.disk.interfere = () => robot.pause(30);
    const gone = givenUp();
    await robot.wait(20);
    const other = resume();
    expect([await gone, await other]).to.deep.equal(['caller-gone', 200]);
    expectStopped(false);
  });

  it('and the daemon undoes a resume because its caller hung up, a new resume that arrives meanwhile succeeds', async () => {
    await stop();
    let other: Promise<unknown> | undefined;
    robot.atFirst(LATCH, () => {
      other = resume();
    });
    expect(await givenUp()).to.equal('caller-gone');
    expect(await other).to.equal(200);
    expectStopped(false);
  });

  it('again while a resume waits for the disk, that resume fails, but a new one succeeds', async () => {
    await stop();
    robot.disk.interfere = () => robot.pause(60);
    const overtaken = resume();
    await robot.wait(5);
    expect(await stop()).to.equal(200);
    expect([await resume(), await overtaken]).to.deep.equal([200, 'stopped']);
    expectStopped(false);
  });

  it('again while two resumes wait for the disk, both resumes fail, even if the caller of one has hung up', async () => {
    await stop();
    await unplug(300, 'chassis');
    robot.disk.interfere = () => robot.pause(60);
    const gone = givenUp();
    await robot.wait(20);
    const other = resume();
    await robot.wait(5);
    const stopping = stop();
    expect([await gone, await other]).to.deep.equal(['stopped', 'stopped']);
    await stopping;
    expectStopped(true);
  });

  it('and a resume then fails, the robot stays stopped; a failed resume of a robot that is not stopped changes no mode', async () => {
    await enters('chassis', 'auto');
    await enters('gimbal', 'debug');
    const refused = async () => {
      robot.let({ unit: 'gimbal', kind: 'write', register: 'stop' }, 'fails');
      expect(await resume()).to.equal('nack');
      robot.allIsWell();
      await robot.wait(300);
    };
    await refused();
    expect(UNITS.map(unit => robot.truth(unit).mode)).to.deep.equal(['debug', 'auto']);
    await stop();
    await refused();
    expectStopped(true);
  });

  it('again while the daemon clears the latch of the reconnected gimbal after a resume, the gimbal has no torque', async () => {
    await enters('gimbal', 'auto');
    await stop();
    await unplug(3000, 'gimbal');
    expect(await resume()).to.equal(200);
    robot.fault('gimbal', 'plug');
    let stopping: Promise<unknown> | undefined;
    const isTakenIn = robot.atFirst({ ...LATCH, data: '00' }, () => {
      stopping = stop();
    });
    await robot.until(isTakenIn);
    expect(await stopping).to.equal(200);
    expect(robot.truth('gimbal').torque).to.equal(false);
    await robot.wait(100);
    expectStopped(true);
  });

  for (const [end, outcome] of [
    ['successful resume, the gimbal gets no torque until it is in manual', 200],
    ['failed resume, the gimbal gets no torque', 'not-confirmed'],
  ] as const) {
    it(`and the gimbal reconnects in auto during a ${end}`, async () => {
      await enters('gimbal', 'auto');
      await unplug(1500, 'gimbal');
      expect(await stop()).to.equal(200);
      const torqueIn = new Set<string>();
      let appears = false;
      robot.intercept = async frame => {
        const { mode, torque } = robot.truth('gimbal');
        if (torque) torqueIn.add(mode);
        appears ||= isLike(frame, { unit: 'gimbal', register: 'heartbeat' });
        // The resume waits for the chassis, which does not go into manual.
        if (frame.unit === 'chassis' && frame.register === 'status' && !(appears && outcome === 200))
          await write(robot, 'chassis', REGISTERS.mode, { mode: MODES.indexOf('auto') });
        return undefined;
      };
      const resuming = resume();
      robot.fault('gimbal', 'plug');
      expect(await resuming).to.equal(outcome);
      await robot.wait(300);
      const { mode, torque } = robot.truth('gimbal');
      expect([appears, ...torqueIn, mode, torque]).to.deep.equal(
        outcome === 200 ? [true, 'manual', 'manual', true] : [true, 'auto', false],
      );
    });
  }

  it('right after a resume with the gimbal unplugged, the gimbal is latched and in manual when it is plugged in again', async () => {
    await enters('gimbal', 'debug');
    await unplug(600, 'gimbal');
    expect([await resume(), await stop()]).to.deep.equal([200, 200]);
    robot.fault('gimbal', 'plug');
    await robot.wait(1500);
    expect(robot.truth('gimbal')).to.include({ mode: 'manual', stopped: true });
  });

  it('because another host latched the chassis, the gimbal stops too, and the robot stays stopped after a daemon restart on a noisy bus', async () => {
    robot.robot.laser.on();
    await robot.during(somebodyElse(robot, 'chassis', REGISTERS.stop, { stop: 1 }));
    await robot.wait(100);
    expect(robot.level).to.equal(0);
    expectStopped(true);
    robot.fault('bus', 'corrupt', 7);
    await robot.restart();
    expect(robot.robot.stopped).to.equal(true);
    expect(() => robot.robot.laser.on()).to.throw('stopped');
  });

  it('and resumed, the gimbal goes from auto to manual even if polls come between the frames of the resume', async () => {
    await enters('gimbal', 'auto');
    await enters('chassis', 'auto');
    await stop();
    let held = 0;
    robot.each({ ...MODE, unit: 'chassis' }, async number => {
      if (number > 4) return undefined;
      held = number;
      await robot.pause(25);
      return 'fails';
    });
    if ((await resume()) !== 200) expect(await resume()).to.equal(200);
    expect(held).to.be.above(0);
    for (const ms of [0, 100]) {
      await robot.wait(ms);
      expect(robot.truth('gimbal').mode).to.equal('manual');
    }
  });

  it('while a save is in flight, both the stop and the save succeed, and the new gains run', async () => {
    const save = robot.outcome(robot.chassis.gains.save(robot.gainsWith(1)));
    await robot.wait(1);
    expect(await stop()).to.equal(200);
    expectStopped(true);
    expect([await save, robot.runningKp]).to.deep.equal([200, 1]);
  });

  describe('and the disk', () => {
    const away = () => unplug(1000, ...UNITS);
    /** The disk is slow, and a kill ends the pending operation. */
    const onASlowDisk = async (act: () => Promise<unknown>) => {
      let isKilled = false;
      robot.disk.interfere = async () => {
        await robot.pause(30);
        if (isKilled) await new Promise(() => undefined);
      };
      await act();
      isKilled = true;
      robot.disk.interfere = async () => undefined;
    };
    const refusedResume = async () => {
      robot.let(MODE, 'fails');
      expect(await resume()).to.equal('nack');
      await robot.wait(200);
    };

    const stories: [name: string, isStopped: boolean, ...acts: (() => Promise<unknown>)[]][] = [
      [
        'has recorded the stop, the stop outlasts a daemon restart with both controllers unplugged, and the laser cannot be switched on',
        true,
        stop,
      ],
      [
        'has recorded a later resume, a daemon restart with both controllers unplugged does not restore the stop',
        false,
        stop,
        resume,
      ],
      [
        'is slow while both controllers are unplugged, the stop still outlasts a daemon restart',
        true,
        away,
        () => onASlowDisk(stop),
      ],
      [
        'is slow while the caller of a resume hangs up, the stop outlasts a daemon restart with both controllers unplugged',
        true,
        away,
        stop,
        () => onASlowDisk(givenUp),
      ],
      [
        'has recorded the stop and a resume then fails, the stop still outlasts a daemon restart with both controllers unplugged',
        true,
        () => enters('gimbal', 'auto'),
        stop,
        refusedResume,
      ],
    ];
    for (const [name, isStopped, ...acts] of stories) {
      it(name, async () => {
        for (const act of acts) await act();
        await unplug(0, ...UNITS);
        await robot.restart();
        expect(robot.robot.stopped).to.equal(isStopped);
        if (isStopped) expect(() => robot.robot.laser.on()).to.throw('stopped');
      });
    }

    it('hangs during a resume, both controllers stay latched until the disk has recorded the resume', async () => {
      await stop();
      const answer = robot.disk.hang();
      const resuming = robot.robot.resume();
      await robot.wait(100);
      expect(robot.frames.filter(frame => isLike(frame, { ...LATCH, data: '00' }))).to.deep.equal([]);
      expectStopped(true);
      answer();
      expect(await robot.outcome(resuming)).to.equal(200);
    });
  });
});
