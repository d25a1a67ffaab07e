import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { defaultGains, MODES, type Mode, unitNamed } from '../../src/core/units.js';
import { REGISTERS, TAKES_EFFECT_MS } from '../../src/protocol/registers.js';
import type { Permission } from '../../src/robot/request-gate.js';
import { ClockedRobot, isLike, somebodyElse, WaitingCaller } from '../support/clocked-robot.js';

const EXCITED = { loop: 'speed', amplitude: 0.5, periodS: 1 };
const STILL = { ...EXCITED, amplitude: 0 };
const GAINS = { ...defaultGains(unitNamed('gimbal')), angle_yaw: { kp: 7, ki: 0, kd: 0 } };
const SWUNG = { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 };
const FORBIDS: Permission = {
  require: () => {
    throw new RobotError('wrong-phase', { phase: 'ended' });
  },
};
const MODE_FRAME = { unit: 'gimbal', kind: 'write', register: 'mode' } as const;

describe('a unit', () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
  });
  afterEach(() => robot.end());

  const anew = async (onControllerReset: 'manual' | 'restore') => {
    await robot.end();
    robot = await ClockedRobot.start({ onControllerReset });
  };
  const debugExcited = async () => {
    await robot.during(robot.chassis.setMode('debug'));
    await robot.during(robot.chassis.excite(EXCITED));
  };
  /** An excitation whose answers are lost. */
  const refusedExcitation = async (excitation = STILL) => {
    robot.let({ unit: 'chassis', kind: 'read', register: 'guarded_excitation' }, 'fails');
    expect(await robot.outcome(robot.chassis.excite(excitation))).to.equal('nack');
    robot.allIsWell();
  };
  /** A switch that arrives, but whose answers are lost. */
  const refusedAuto = async () => {
    robot.let(MODE_FRAME, 'answer lost');
    expect(await robot.outcome(robot.gimbal.setMode('auto'))).to.equal('nack');
    robot.allIsWell();
  };
  /**
   * The gimbal acknowledges the first mode or excitation frame but ignores it, and `then` is called. Returns the mode and excitation
   * frames that would move the gimbal.
   */
  const losesFrames = (then: () => void): readonly string[] => {
    const { bus } = robot.sim.hardware;
    const write = bus.writeBlock.bind(bus);
    const moving: string[] = [];
    let isLost = false;
    bus.writeBlock = async (address, at, data) => {
      const isMode = at === REGISTERS.mode.address;
      const isExcitation = at === REGISTERS.guarded_excitation.address;
      if (address !== unitNamed('gimbal').address || !(isMode || isExcitation))
        return write(address, at, data);
      const isMoving = isMode ? data[0] !== MODES.indexOf('manual') : data.readFloatLE(1) !== 0;
      if (isMoving) moving.push(data.toString('hex'));
      if (isLost) return write(address, at, data);
      isLost = true;
      then();
    };
    return moving;
  };
  const modes = () => [robot.truth('gimbal').mode, robot.gimbal.report().mode];

  it('has no excitation after a confirmed request to end the excitation, even if an earlier such request failed', async () => {
    await debugExcited();
    await refusedExcitation();
    expect(await robot.outcome(robot.chassis.excite(STILL))).to.equal(200);
    await robot.wait(500);
    expect(robot.chassis.excitation().amplitude).to.equal(0);
  });

  it('returns to its confirmed excitation after a request to end this excitation has failed, but not if the unit has left debug mode', async () => {
    await debugExcited();
    await refusedExcitation();
    await robot.wait(200);
    expect(robot.chassis.excitation()).to.deep.equal(EXCITED);
    await refusedExcitation();
    for (const mode of ['manual', 'debug'] as const) await robot.during(robot.chassis.setMode(mode));
    await robot.wait(500);
    expect(robot.chassis.report().excitation?.amplitude).to.equal(0);
  });

  it('in debug mode has no excitation if every request for one has failed', async () => {
    await robot.during(robot.chassis.setMode('debug'));
    for (const amplitude of [0.3, 0.5]) await refusedExcitation({ ...EXCITED, amplitude });
    await robot.wait(500);
    expect(robot.chassis.excitation().amplitude).to.equal(0);
  });

  it('returns to manual after a failed switch to auto, even if a waiting save of gains runs right after that switch', async () => {
    for (let round = 0; round < 2; round += 1) {
      const refused = refusedAuto();
      const saved = robot.gimbal.gains.save(GAINS);
      await refused;
      expect(await robot.outcome(saved)).to.equal(200);
    }
    await robot.wait(500);
    expect(modes()).to.deep.equal(['manual', 'manual']);
  });

  /** Resolves with the time of the switch, in milliseconds of the robot's clock. */
  const switched = async (mode: Mode) => {
    const startMs = robot.clock.nowMs();
    await robot.during(robot.gimbal.setMode(mode));
    return robot.clock.nowMs() - startMs;
  };

  it('makes several mode switches in a row without delay if the controller shows each new mode at once', async () => {
    for (const mode of ['auto', 'manual', 'debug', 'manual'] as const) {
      expect(await switched(mode), mode).to.be.below(TAKES_EFFECT_MS / 2);
    }
  });

  it('delays a mode switch only while a late frame of the last switch could still change the mode', async () => {
    robot.each(MODE_FRAME, number => (number === 1 ? 'answer lost' : undefined));
    await switched('auto');
    expect(await switched('manual')).to.be.at.least(TAKES_EFFECT_MS);
    await robot.wait(100);
    await switched('manual');
    expect(await switched('auto')).to.be.below(TAKES_EFFECT_MS / 2);
  });

  it('adopts a mode that another host on the bus sets while no frame of the daemon is in flight', async () => {
    await robot.during(robot.gimbal.setMode('auto'));
    await robot.wait(100);
    await robot.during(somebodyElse(robot, 'gimbal', REGISTERS.mode, { mode: MODES.indexOf('debug') }));
    await robot.wait(300);
    expect(modes()).to.deep.equal(['debug', 'debug']);
  });

  for (const [policy, expected] of [
    ['manual', 'manual'],
    ['restore', 'debug'],
  ] as const) {
    it(`with \`onControllerReset: ${policy}\` is put in ${expected} if its controller is reset during a failed switch from debug to auto`, async () => {
      await anew(policy);
      await robot.during(robot.gimbal.setMode('debug'));
      await robot.wait(100);
      let done = false;
      robot.intercept = frame => {
        if (isLike(frame, MODE_FRAME) && !done) {
          done = true;
          robot.fault('gimbal', 'brownout');
          return 'answer lost';
        }
        return done && isLike(frame, { unit: 'gimbal', register: 'mode' }) ? 'fails' : undefined;
      };
      expect(await robot.outcome(robot.gimbal.setMode('auto'))).to.not.equal(200);
      const underTorque = robot.torqueModes('gimbal');
      await robot.wait(500);
      expect(robot.truth('gimbal').mode).to.equal(expected);
      expect([...underTorque]).to.deep.equal([expected]);
    });
  }

  it('does not confirm a switch to auto if a reset has put the controller back in manual', async () => {
    robot.atFirst(MODE_FRAME, () => robot.fault('gimbal', 'brownout'));
    expect(await robot.outcome(robot.gimbal.setMode('auto'))).to.equal('not-confirmed');
    await robot.wait(300);
    expect(robot.truth('gimbal')).to.include({ mode: 'manual', torque: true });
  });

  for (const [change, code, act] of [
    ['the caller hangs up', 'caller-gone', ({ hangUp }) => hangUp()],
    ['the robot is stopped', 'stopped', () => void robot.robot.stop().catch(() => undefined)],
    ['a match forbids the act', 'wrong-phase', () => robot.robot.obey(FORBIDS)],
    ['the daemon ends', 'closing', () => robot.robot.forbidActs()],
  ] satisfies readonly (readonly [string, string, (caller: WaitingCaller) => void])[])
    for (const [what, ask] of [
      ['a switch to auto', stillWanted => robot.gimbal.setMode('auto', stillWanted)],
      ['an excitation', stillWanted => robot.gimbal.excite(SWUNG, { stillWanted })],
    ] satisfies readonly (readonly [string, (stillWanted: () => void) => Promise<unknown>])[])
      it(`gets no second frame of ${what} if the first has no effect and then ${change}`, async () => {
        await robot.during(robot.gimbal.setMode('debug'));
        const caller = new WaitingCaller();
        const moving = losesFrames(() => act(caller));
        expect(await robot.outcome(ask(caller.stillWanted))).to.equal(code);
        await robot.wait(300);
        expect(moving).to.have.length(1);
      });

  it('is put into manual although the first frame has no effect and the caller hangs up', async () => {
    await robot.during(robot.gimbal.setMode('auto'));
    const { stillWanted, hangUp } = new WaitingCaller();
    losesFrames(hangUp);
    expect(await robot.outcome(robot.gimbal.setMode('manual', stillWanted))).to.equal(200);
    expect(modes()).to.deep.equal(['manual', 'manual']);
  });

  it('runs a trial of a unit that somebody holds still with commands of rates 0', async () => {
    await robot.during(robot.chassis.setMode('manual'));
    for (let round = 0; round < 5; round += 1) {
      const trial = robot.tryGains(1, { id: 'a' });
      for (let ms = 0; ms < 40; ms += 4) {
        void robot.drive({ chassis: { speed: 0, turn: 0 } }).catch(() => undefined);
        await robot.wait(4);
      }
      expect(await robot.outcome(trial)).to.equal(200);
    }
  });

  it('begins nothing after the daemon has begun to end, but still saves gains, ends an excitation and enters manual', async () => {
    await robot.during(robot.drive({ gimbal: { yaw: 0.5, pitch: 0 } }));
    await debugExcited();
    const { chassis } = robot;
    robot.robot.forbidActs();
    expect(robot.gimbal.driver).to.equal(undefined);
    const refused = [
      () => chassis.setMode('auto'),
      () => chassis.excite(EXCITED),
      () => robot.tryGains(1),
      () => robot.robot.resume(),
      () => robot.drive({ chassis: { speed: 0.1 } }),
    ];
    for (const act of refused) expect(await robot.outcome(act())).to.equal('closing');
    expect(() => robot.robot.laser.on()).to.throw('closing');
    expect(await robot.outcome(chassis.gains.save(robot.gainsWith(1)))).to.equal(200);
    expect(await robot.outcome(chassis.excite(STILL))).to.equal(200);
    expect(await robot.outcome(chassis.setMode('manual'))).to.equal(200);
  });

  it('gets no frame of a mode switch if the caller hangs up while the switch waits for its turn', async () => {
    const save = robot.gimbal.gains.save(GAINS);
    const { stillWanted, hangUp } = new WaitingCaller();
    const outcome = robot.outcome(robot.gimbal.setMode('auto', stillWanted));
    hangUp();
    await robot.during(save);
    expect(await outcome).to.equal('caller-gone');
    expect(robot.frames.some(frame => isLike(frame, MODE_FRAME))).to.equal(false);
  });

  it('that a failed switch has left in auto goes to manual if the daemon shuts down, but stays in auto if the daemon is killed', async () => {
    await refusedAuto();
    await robot.restart();
    await robot.wait(200);
    expect(modes()).to.deep.equal(['auto', 'auto']);
    await robot.during(robot.gimbal.setMode('manual'));
    await robot.wait(100);
    await refusedAuto();
    await robot.during(robot.robot.close());
    expect(robot.truth('gimbal').mode).to.equal('manual');
    await robot.restart();
  });

  it('keeps its mode but loses its trial when it is unplugged and plugged in again', async () => {
    await debugExcited();
    await robot.during(robot.tryGains(1));
    expect(robot.runningKp).to.equal(1);
    robot.fault('chassis', 'unplug');
    await robot.wait(300);
    robot.fault('chassis', 'plug');
    await robot.wait(1500);
    expect(robot.chassis.report()).to.deep.include({ online: true, mode: 'debug' });
    expect([robot.truth('chassis').torque, robot.runningKp]).to.deep.equal([true, 40]);
  });

  it('has no excitation after a reset of its controller, even if the daemon restores debug mode', async () => {
    await anew('restore');
    await debugExcited();
    robot.fault('chassis', 'brownout');
    await robot.wait(300);
    expect(robot.chassis.report().mode).to.equal('debug');
    expect(robot.chassis.excitation().amplitude).to.equal(0);
  });
});
