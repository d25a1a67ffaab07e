import { expect } from 'chai';
import { FAULTS, FLAGS, REGISTERS } from '../../src/protocol/registers.js';
import { ClockedRobot, isLike, write } from '../support/clocked-robot.js';

const EXCITATION = { loop: 'speed', amplitude: 0.5, periodS: 1 };
const WRITTEN = { unit: 'chassis', kind: 'write', register: 'guarded_excitation' } as const;

describe('an excitation', () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
    await begin();
  });
  afterEach(() => robot.end());

  const begin = async () => {
    await robot.during(robot.chassis.setMode('debug'));
    await robot.during(robot.chassis.excite(EXCITATION));
    robot.loops.chassis.commands.length = 0;
  };
  const unplugged = async (ms: number) => {
    robot.fault('chassis', 'unplug');
    await robot.wait(ms);
    robot.fault('chassis', 'plug');
    await robot.wait(1500);
  };
  /** The number of loop periods in which the excitation moved the motors. */
  const moves = () =>
    robot.loops.chassis.commands.filter(
      ({ mode, torque, excitation }) => mode === 'debug' && torque && excitation.amplitude !== 0,
    ).length;
  const ends = () =>
    robot.events.flatMap(event =>
      event.what === 'excitation' && 'why' in event.detail ? [event.detail.why] : [],
    );
  /** From now on the controller is one of 0.3.0: an excitation outlasts the torque and begins again with it. */
  const withOldFirmware = () => {
    let amplitude = EXCITATION.amplitude;
    robot.intercept = frame => {
      if (isLike(frame, WRITTEN)) amplitude = Buffer.from(frame.data, 'hex').readFloatLE(1);
      return undefined;
    };
    robot.alter(REGISTERS.guarded_excitation, () => ({ slot: 0, amplitude, period_s: 1, deviation: 0 }));
  };
  /** The amplitudes that were written before the first heartbeat that arrived. */
  const beforeBeat = () => {
    const beat = robot.frames.findIndex(
      ({ unit, register }) => unit === 'chassis' && register === 'heartbeat',
    );
    expect(beat, 'place of the heartbeat').to.be.above(0);
    const frames = robot.frames.slice(0, beat).filter(frame => isLike(frame, WRITTEN));
    return frames.map(({ data }) => Buffer.from(data, 'hex').readFloatLE(1));
  };

  for (const ms of [200, 700, 4600]) {
    it(`ends for good if the controller is unplugged for ${ms} ms, and the event reports the reason "offline"`, async () => {
      await unplugged(ms);
      expect(robot.chassis.report()).to.deep.include({ online: true, mode: 'debug' });
      expect(robot.chassis.excitation().amplitude).to.equal(0);
      expect(ends()).to.deep.equal(['offline']);
      const before = moves();
      for (let again = 0; again < 3; again += 1) await unplugged(ms);
      expect(moves()).to.equal(before);
      expect(robot.truth('chassis').torque).to.equal(true);
    });
  }

  it('is shown with amplitude 0 as soon as the unit has left debug mode', async () => {
    expect(robot.chassis.excitation()).to.deep.equal(EXCITATION);
    await robot.during(robot.chassis.setMode('manual'));
    expect(robot.chassis.excitation()).to.deep.equal({ ...EXCITATION, amplitude: 0 });
  });

  it('in firmware 0.3.0 does not begin again after the controller reconnects, because the daemon sends amplitude 0 before the first heartbeat', async () => {
    withOldFirmware();
    robot.fault('chassis', 'unplug');
    await robot.wait(4600);
    robot.frames.length = 0;
    robot.fault('chassis', 'plug');
    await robot.wait(1500);
    expect(beforeBeat()).to.deep.equal([0]);
    expect(robot.chassis.excitation().amplitude).to.equal(0);
  });

  it('in firmware 0.3.0 gets amplitude 0 before the first heartbeat of a daemon that was down for 600 ms', async () => {
    withOldFirmware();
    await robot.kill();
    await robot.wait(600);
    robot.frames.length = 0;
    await robot.restart();
    await robot.wait(100);
    expect(beforeBeat()).to.deep.equal([0]);
  });

  it('continues if the daemon restarts so fast that the controller does not cut its torque', async () => {
    await robot.restart();
    await robot.wait(100);
    expect(robot.chassis.excitation()).to.deep.equal(EXCITATION);
    expect(moves()).to.equal(robot.loops.chassis.commands.length);
  });

  it('ends when the controller loses its torque, and a new excitation is refused until the torque is back', async () => {
    const torque = 1 << FLAGS.indexOf('torque');
    let isLost = true;
    robot.alter(REGISTERS.status, ({ flags, faults }) =>
      isLost ? { flags: flags & ~torque, faults: faults | (1 << FAULTS.indexOf('over_current')) } : {},
    );
    await robot.wait(50);
    expect(ends()).to.deep.equal(['no torque']);
    expect(robot.chassis.excitation().amplitude).to.equal(0);
    expect(await robot.outcome(robot.chassis.excite(EXCITATION))).to.equal('no-torque');
    expect(await robot.outcome(robot.chassis.excite({ ...EXCITATION, amplitude: 0 }))).to.equal(200);
    isLost = false;
    await robot.wait(50);
    expect(robot.chassis.excitation().amplitude).to.equal(0);
    expect(await robot.outcome(robot.chassis.excite(EXCITATION))).to.equal(200);
  });

  it('is refused if somebody stops the controller before the excitation is confirmed', async () => {
    await robot.during(robot.chassis.excite({ ...EXCITATION, amplitude: 0 }));
    robot.loops.chassis.commands.length = 0;
    robot.atFirst(WRITTEN, () => write(robot, 'chassis', REGISTERS.stop, { stop: 1 }));
    expect(await robot.outcome(robot.chassis.excite(EXCITATION))).to.equal('stopped');
    await robot.wait(300);
    expect(moves()).to.equal(0);
  });

  it('ends at a stop with the reason "stop", and at a reset of the controller with the reason "reset"', async () => {
    await robot.during(robot.robot.stop());
    await robot.during(robot.robot.resume());
    await begin();
    robot.fault('chassis', 'brownout');
    await robot.wait(300);
    expect(ends()).to.deep.equal(['stop', 'reset']);
    expect(robot.truth('chassis').mode).to.equal('manual');
  });
});
