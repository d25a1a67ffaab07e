import { expect } from 'chai';
import { asRobotError, RobotError } from '../../src/core/errors.js';
import { defaultGains, MODES, type Mode, perUnit, type UnitName, unitNamed } from '../../src/core/units.js';
import { problemOf } from '../../src/http/problems.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import { ClockedRobot, isLike, somebodyElse, WaitingCaller, write } from '../support/clocked-robot.js';

const silence = (ms: number, beforeMs = ms) => ({ silence: perUnit(() => ({ beforeMs, givenMs: ms })) });
const UNITS: readonly UnitName[] = ['gimbal', 'chassis'];
const LATCH = { unit: 'gimbal', kind: 'write', register: 'stop', data: '01' } as const;
const MODE = { unit: 'gimbal', kind: 'write', register: 'mode' } as const;

describe('a stop', () => {
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
  const resume = (stillWanted?: () => void) => robot.outcome(robot.robot.resume(stillWanted));
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

  it('is not ended by a resume that may have arrived before the stop', async () => {
    const pausedMs = robot.clock.nowMs();
    await robot.wait(100);
    await robot.outcome(robot.robot.stop());
    expect(await robot.outcome(robot.robot.resume(undefined, pausedMs))).to.equal('stopped');
    expect(robot.robot.stopped).to.equal(true);
    expect(await robot.outcome(robot.robot.resume())).to.equal(200);
  });

  it('darkens the laser at once, latches both controllers, and is confirmed by both', async () => {
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
    it(`right after the gimbal was unplugged is ${name}`, async () => {
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

  it('that neither unit confirms names both units in its answer, even if the laser pin fails too', async () => {
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
    it(`${waitMs === 0 ? 'right' : `${waitMs / 1000} s`} after the daemon starts with the gimbal unplugged is ${expected === 200 ? 'confirmed' : 'not confirmed'} if the gimbal may keep its torque ${mayKeep} without a heartbeat`, async () => {
      await begin(silence(500, beforeMs));
      robot.fault('gimbal', 'unplug');
      await robot.restart();
      await robot.wait(waitMs);
      expect(await stop()).to.equal(expected);
    });
  }

  it('is not confirmed if the chassis was unplugged before its first heartbeat, which would have limited how long it keeps its torque', async () => {
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

  it('is not confirmed while a heartbeat to the gimbal is still on the bus', async () => {
    let holding = true;
    robot.intercept = async frame => {
      if (!isLike(frame, { unit: 'gimbal', register: 'heartbeat' })) return undefined;
      while (holding) await robot.pause(5);
      return undefined;
    };
    await robot.wait(100);
    expect(await stop()).to.equal('not-confirmed');
    holding = false;
    await robot.wait(200);
    expectStopped(true);
  });

  it('keeps the torque off when a controller is reset, even while a save gives that controller new gains', async () => {
    const gains = defaultGains(unitNamed('gimbal'));
    await stop();
    for (const pauseMs of [0, 1, 3, 7, 11, 19]) {
      await robot.wait(pauseMs);
      robot.fault('gimbal', 'brownout');
      const save = robot.gimbal.gains.save({ ...gains, angle_yaw: { kp: pauseMs, ki: 1, kd: 1 } });
      let torque = false;
      robot.intercept = () => {
        torque ||= robot.truth('gimbal').torque;
        return undefined;
      };
      await robot.outcome(save);
      await robot.wait(200);
      expect([torque, robot.truth('gimbal').gains !== null]).to.deep.equal([false, true]);
      expectStopped(true);
    }
  });

  it('that arrives during any frame of a resume leaves the robot stopped', async () => {
    for (let round = 0; round < 60; round += 1) {
      await stop();
      const resuming = resume();
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

  it('whose frame arrives damaged is not sent again if a resume begins before the controller refuses that frame', async () => {
    await stop();
    let release = (): void => undefined;
    const isHeld = robot.atFirst(LATCH, async () => {
      await new Promise<void>(resolve => {
        release = resolve;
      });
      // The controller refuses the frame, because a bit is flipped.
      robot.fault('gimbal', 'corrupt', 1);
    });
    robot.fault('gimbal', 'brownout');
    for (let ms = 0; !isHeld() && ms < 200; ms += 1) await robot.wait(1);
    expect(isHeld()).to.equal(true);
    const resuming = robot.robot.resume();
    await robot.wait(5);
    robot.frames.length = 0;
    release();
    expect(await robot.outcome(resuming)).to.equal(200);
    await robot.wait(100);
    expect(robot.gimbal.report().faults).to.include('frame_refused');
    expect(robot.frames.filter(frame => isLike(frame, LATCH))).to.deep.equal([]);
  });

  it('that is still in progress makes the daemon refuse a resume', async () => {
    const stopping = stop();
    expect([await resume(), await stopping]).to.deep.equal(['stopped', 200]);
    await robot.wait(100);
    expectStopped(true);
  });

  for (const [staying, outcome] of [
    [1, 200],
    [0, 'caller-gone'],
  ] as const) {
    it(`${staying === 1 ? 'is ended' : 'is not ended'} by a resume that two callers asked for if ${staying === 1 ? 'only one of them hangs up' : 'both of them hang up'}`, async () => {
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

  it('is ended by a resume even if an earlier resume, whose caller has hung up, still waits for the disk', async () => {
    await stop();
    robot.disk.interfere = () => robot.pause(30);
    const gone = givenUp();
    await robot.wait(20);
    const other = resume();
    expect([await gone, await other]).to.deep.equal(['caller-gone', 200]);
    expectStopped(false);
  });

  it('is ended by a resume that arrives while the daemon undoes an earlier resume whose caller has hung up', async () => {
    await stop();
    let other: Promise<unknown> | undefined;
    robot.atFirst(LATCH, () => {
      other = resume();
    });
    expect(await givenUp()).to.equal('caller-gone');
    expect(await other).to.equal(200);
    expectStopped(false);
  });

  it('cancels a resume that still waits for the disk, but can be ended by a new resume', async () => {
    await stop();
    robot.disk.interfere = () => robot.pause(60);
    const overtaken = resume();
    await robot.wait(5);
    expect(await stop()).to.equal(200);
    expect([await resume(), await overtaken]).to.deep.equal([200, 'stopped']);
    expectStopped(false);
  });

  it('cancels two resumes that still wait for the disk, even if the caller of one has hung up', async () => {
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

  it('is not ended by a failed resume, and a failed resume without a stop changes no mode', async () => {
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

  it('that arrives while the daemon releases a reconnected controller after a resume cuts the torque of that controller', async () => {
    await enters('gimbal', 'auto');
    await stop();
    await unplug(3000, 'gimbal');
    expect(await resume()).to.equal(200);
    robot.fault('gimbal', 'plug');
    let stopping: Promise<unknown> | undefined;
    const isTakenIn = robot.atFirst({ ...LATCH, data: '00' }, () => {
      stopping = stop();
    });
    for (let ms = 0; !isTakenIn() && ms < 2000; ms += 1) await robot.wait(1);
    expect(await stopping).to.equal(200);
    expect(robot.truth('gimbal').torque).to.equal(false);
    await robot.wait(100);
    expectStopped(true);
  });

  for (const [end, outcome] of [
    [
      'successful resume gives a controller that reconnects in auto no torque until that controller is in manual',
      200,
    ],
    ['refused resume gives no torque to a controller that returns in auto', 'not-confirmed'],
  ] as const) {
    it(`followed by a ${end}`, async () => {
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

  it('that follows a resume while the gimbal is unplugged leaves the gimbal latched and in manual when the gimbal is plugged in', async () => {
    await enters('gimbal', 'debug');
    await unplug(600, 'gimbal');
    expect([await resume(), await stop()]).to.deep.equal([200, 200]);
    robot.fault('gimbal', 'plug');
    await robot.wait(1500);
    expect(robot.truth('gimbal')).to.include({ mode: 'manual', stopped: true });
  });

  it('that another host sends to one controller stops the whole robot, which stays stopped after a daemon restart with damaged frames', async () => {
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

  it('and a resume take the gimbal from auto to manual even if polls come between the frames of the resume', async () => {
    await enters('gimbal', 'auto');
    await enters('chassis', 'auto');
    await stop();
    let held = 0;
    robot.intercept = async frame => {
      if (!isLike(frame, { ...MODE, unit: 'chassis' }) || held > 3) return undefined;
      held += 1;
      await robot.pause(25);
      return 'fails';
    };
    if ((await resume()) !== 200) expect(await resume()).to.equal(200);
    expect(held).to.be.above(0);
    for (const ms of [0, 100]) {
      await robot.wait(ms);
      expect(robot.truth('gimbal').mode).to.equal('manual');
    }
  });

  it('and a save that are in flight together both succeed: the robot is stopped, and the new gains run', async () => {
    const save = robot.outcome(robot.chassis.gains.save(robot.gainsWith(1)));
    await robot.wait(1);
    expect(await stop()).to.equal(200);
    expectStopped(true);
    expect([await save, robot.runningKp]).to.deep.equal([200, 1]);
  });

  describe('that is recorded on the disk', () => {
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
        'outlasts a daemon restart with both controllers unplugged, and the laser then refuses every On',
        true,
        stop,
      ],
      [
        'is not restored by a daemon restart with both controllers unplugged if a resume has ended the stop',
        false,
        stop,
        resume,
      ],
      [
        'outlasts a daemon restart even if both controllers were unplugged before the stop and the disk was slow',
        true,
        away,
        () => onASlowDisk(stop),
      ],
      [
        'outlasts a daemon restart with both controllers unplugged if the caller of a resume hung up while the disk was slow',
        true,
        away,
        stop,
        () => onASlowDisk(givenUp),
      ],
      [
        'outlasts a daemon restart with both controllers unplugged even after a failed resume',
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

    it('stays in force on both controllers during a resume until the disk has recorded that resume', async () => {
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
