import { expect } from 'chai';
import { defaultGains, type Mode, unitNamed } from '../../src/core/units.js';
import { MODE_VALUES, REGISTERS, TAKES_EFFECT_MS } from '../../src/protocol/registers.js';
import { ClockedRobot, type Frame, somebodyElse } from '../support/clocked-robot.js';

const WAVE = { loop: 'speed', amplitude: 0.5, periodS: 1 };
const STILL = { ...WAVE, amplitude: 0 };
const GAINS = { ...defaultGains(unitNamed('gimbal')), angle_yaw: { kp: 7, ki: 0, kd: 0 } };

const isWrite = (frame: Frame, unit: string, register: string) =>
  frame.kind === 'write' && frame.unit === unit && frame.register === register;

describe('a unit after refused requests', () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
  });
  afterEach(() => robot.end());

  /** Everything that is read of this register fails, while `act` runs. */
  const unread = async (unit: string, register: string, act: () => Promise<unknown>) => {
    robot.intercept = frame =>
      frame.unit === unit && frame.kind === 'read' && frame.register === register ? 'fails' : undefined;
    const outcome = await robot.outcome(act());
    robot.intercept = () => undefined;
    return outcome;
  };
  const units = () => robot.robot.units;
  const debugWithWave = async () => {
    await robot.during(units().chassis.setMode('debug'));
    await robot.during(units().chassis.excite(WAVE));
  };

  it('keeps a wave at rest that was asked for again after a refusal', async () => {
    await debugWithWave();
    expect(await unread('chassis', 'guarded_excitation', () => units().chassis.excite(STILL))).to.equal(
      'nack',
    );
    expect(await robot.outcome(units().chassis.excite(STILL))).to.equal(200);
    await robot.wait(500);
    expect(units().chassis.excitation().amplitude).to.equal(0);
  });

  it('goes back to the wave that was answered 200 when its end was refused', async () => {
    await debugWithWave();
    await unread('chassis', 'guarded_excitation', () => units().chassis.excite(STILL));
    await robot.wait(200);
    expect(units().chassis.excitation()).to.deep.equal(WAVE);
  });

  it('starts debug without a wave, whatever was refused before', async () => {
    await debugWithWave();
    await unread('chassis', 'guarded_excitation', () => units().chassis.excite(STILL));
    for (const mode of ['manual', 'debug'] as const) await robot.during(units().chassis.setMode(mode));
    await robot.wait(500);
    expect(units().chassis.report().excitation?.amplitude).to.equal(0);
  });

  it('moves by nothing that only met refusals', async () => {
    await robot.during(units().chassis.setMode('debug'));
    for (const amplitude of [0.3, 0.5]) {
      await unread('chassis', 'guarded_excitation', () => units().chassis.excite({ ...WAVE, amplitude }));
    }
    await robot.wait(500);
    expect(units().chassis.excitation().amplitude).to.equal(0);
  });

  it('stands in the mode that was answered 200 after two refused switches with saves between', async () => {
    const refuse = () => {
      robot.intercept = frame => (isWrite(frame, 'gimbal', 'mode') ? 'answer lost' : undefined);
      return units().gimbal.setMode('auto');
    };
    for (let round = 0; round < 2; round += 1) {
      const refused = refuse();
      const saved = units().gimbal.gains.save(GAINS);
      expect(await robot.outcome(refused)).to.equal('nack');
      robot.intercept = () => undefined;
      expect(await robot.outcome(saved)).to.equal(200);
    }
    await robot.wait(500);
    expect([robot.truth('gimbal').mode, units().gimbal.report().mode]).to.deep.equal(['manual', 'manual']);
  });

  /** Resolves with the time of the switch in ms of the robot's clock. */
  const switched = async (mode: Mode) => {
    const startMs = robot.clock.nowMs();
    await robot.during(units().gimbal.setMode(mode));
    return robot.clock.nowMs() - startMs;
  };

  it('switches again at once after a switch whose one frame was seen to take effect', async () => {
    for (const mode of ['auto', 'manual', 'debug', 'manual'] as const) {
      expect(await switched(mode), mode).to.be.below(TAKES_EFFECT_MS / 2);
    }
  });

  it('waits in the wake of a switch whose frame may have come twice, and not of one to the mode in force', async () => {
    let lost = 0;
    robot.intercept = frame => {
      if (!isWrite(frame, 'gimbal', 'mode') || lost > 0) return undefined;
      lost += 1;
      return 'answer lost';
    };
    await switched('auto');
    expect(await switched('manual')).to.be.at.least(TAKES_EFFECT_MS);
    await robot.wait(100);
    await switched('manual');
    expect(await switched('auto')).to.be.below(TAKES_EFFECT_MS / 2);
  });

  it('adopts what the controller does by itself, once nothing of ours is under way', async () => {
    await robot.during(units().gimbal.setMode('auto'));
    await robot.wait(100);
    await robot.during(somebodyElse(robot, 'gimbal', REGISTERS.mode, { mode: MODE_VALUES.debug ?? 2 }));
    await robot.wait(300);
    expect([robot.truth('gimbal').mode, units().gimbal.report().mode]).to.deep.equal(['debug', 'debug']);
  });

  for (const [policy, expected] of [
    ['manual', 'manual'],
    ['restore', 'debug'],
  ] as const) {
    it(`stands in ${expected} after a brown-out and a refused auto, with onControllerReset: ${policy}`, async () => {
      await robot.end();
      robot = await ClockedRobot.start({ onControllerReset: policy });
      await robot.during(units().gimbal.setMode('debug'));
      await robot.wait(100);
      let done = false;
      robot.intercept = frame => {
        if (isWrite(frame, 'gimbal', 'mode') && !done) {
          done = true;
          robot.fault('gimbal', 'brownout');
          return 'answer lost';
        }
        return done && frame.unit === 'gimbal' && frame.register === 'mode' ? 'fails' : undefined;
      };
      expect(await robot.outcome(units().gimbal.setMode('auto'))).to.not.equal(200);
      robot.intercept = () => undefined;
      await robot.wait(500);
      expect(robot.truth('gimbal')).to.include({ mode: expected, torque: true });
    });
  }

  it('answers no 200 for a mode that a reset has taken away', async () => {
    let resets = 0;
    robot.intercept = frame => {
      if (!isWrite(frame, 'gimbal', 'mode') || resets > 0) return undefined;
      resets += 1;
      robot.fault('gimbal', 'brownout');
      return undefined;
    };
    expect(await robot.outcome(units().gimbal.setMode('auto'))).to.equal('not-confirmed');
    await robot.wait(300);
    expect(robot.truth('gimbal')).to.include({ mode: 'manual', torque: true });
  });

  it('does nothing for a caller who hung up while waiting for the turn', async () => {
    let gone = false;
    const save = units().gimbal.gains.save(GAINS);
    const mode = units().gimbal.setMode('auto', () => {
      if (gone) throw new Error('gone');
    });
    gone = true;
    await robot.during(save);
    await robot.during(mode.catch(error => expect(error.message).to.equal('gone')));
    expect(robot.frames.some(frame => isWrite(frame, 'gimbal', 'mode'))).to.equal(false);
  });

  it('is adopted as it stands by the daemon after a kill', async () => {
    robot.intercept = frame => (isWrite(frame, 'gimbal', 'mode') ? 'answer lost' : undefined);
    expect(await robot.outcome(units().gimbal.setMode('auto'))).to.equal('nack');
    robot.intercept = () => undefined;
    expect(robot.truth('gimbal').mode).to.equal('auto');
    await robot.restart();
    await robot.wait(200);
    expect([units().gimbal.report().mode, robot.truth('gimbal').mode]).to.deep.equal(['auto', 'auto']);
  });

  it('is mended by an end in order', async () => {
    robot.intercept = frame => (isWrite(frame, 'gimbal', 'mode') ? 'answer lost' : undefined);
    expect(await robot.outcome(units().gimbal.setMode('auto'))).to.equal('nack');
    robot.intercept = () => undefined;
    await robot.during(robot.robot.close());
    expect(robot.truth('gimbal').mode).to.equal('manual');
    await robot.restart();
  });

  it('goes on in its mode and with its wave after it was out of reach, and gives up a trial', async () => {
    await debugWithWave();
    const gains = { ...defaultGains(unitNamed('chassis')), speed: { kp: 1, ki: 0, kd: 0 } };
    await robot.during(units().chassis.gains.tryGains({ id: 'a', by: 'lab', gains, endsAtMs: 60_000 }));
    expect(robot.truth('chassis').gains?.speed?.kp).to.equal(1);
    robot.fault('chassis', 'unplug');
    await robot.wait(300);
    robot.fault('chassis', 'plug');
    await robot.wait(1500);
    expect(units().chassis.report()).to.deep.include({ online: true, mode: 'debug', excitation: WAVE });
    expect(robot.truth('chassis')).to.include({ mode: 'debug', torque: true });
    expect(robot.truth('chassis').gains?.speed?.kp).to.equal(40);
  });

  it('has no wave after a reset, although debug mode comes back', async () => {
    await robot.end();
    robot = await ClockedRobot.start({ onControllerReset: 'restore' });
    await debugWithWave();
    robot.fault('chassis', 'brownout');
    await robot.wait(300);
    expect(units().chassis.report()).to.deep.include({ mode: 'debug' });
    expect(units().chassis.excitation().amplitude).to.equal(0);
  });

  it('is supervised in time while callers ask without a pause', async () => {
    await robot.during(units().gimbal.setMode('auto'));
    let asking = true;
    const ask = async () => {
      while (asking)
        await units()
          .chassis.setMode('manual')
          .catch(() => undefined);
    };
    const callers = Array.from({ length: 8 }, ask);
    const before = robot.frames.length;
    await robot.wait(1000);
    const beats = robot.frames.slice(before).filter(frame => isWrite(frame, 'gimbal', 'heartbeat'));
    expect(beats.length).to.be.within(45, 51);
    expect(units().gimbal.report().online && units().chassis.report().online).to.equal(true);
    asking = false;
    await robot.during(Promise.all(callers));
  });
});
