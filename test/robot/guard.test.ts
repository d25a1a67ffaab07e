import { expect } from 'chai';
import { unitNamed } from '../../src/core/units.js';
import { decodeFrame, encodeFrame } from '../../src/protocol/codec.js';
import { REGISTERS, TAKES_EFFECT_MS } from '../../src/protocol/registers.js';
import { ClockedRobot } from '../support/clocked-robot.js';

const EXCITATION = { loop: 'speed', amplitude: 0.5, periodS: 1 };
const unit = unitNamed('chassis');
const RUNAWAY = unit.loops[0]!.runaway;

describe("the controller's guard of the excitation", () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
    await robot.during(chassis().setMode('debug'));
    await robot.wait(100);
    robot.frames.length = 0;
  });
  afterEach(() => robot.end());

  const chassis = () => robot.robot.units.chassis;
  const tried = () => ({ ...robot.robot.store.current('chassis').gains, speed: { kp: 1, ki: 0, kd: 0 } });
  const tryGains = () =>
    robot.during(chassis().gains.tryGains({ id: 'a', by: 'lab', gains: tried(), endsAtMs: 1e9 }));
  /** Takes the speed loop so far from its setpoint that its guard ends the wave. */
  const runAway = () => {
    robot.loops.chassis.readings.speed!.setpoint = -10 * RUNAWAY;
  };
  const written = () => robot.frames.filter(({ kind }) => kind === 'write').map(({ register }) => register);
  /** Loop, amplitude and deviation of each excitation that was written. */
  const given = () =>
    robot.frames
      .filter(({ kind, register }) => kind === 'write' && register === 'guarded_excitation')
      .map(({ data }) => {
        const frame = Buffer.from(data, 'hex');
        const loop = unit.loops.find(({ slot }) => slot === frame.readUInt8());
        return [loop?.name, frame.readFloatLE(1), frame.readFloatLE(9)];
      });

  it('has the bound of the loop while gains are tried on its wave, before they run, and none otherwise', async () => {
    await robot.during(chassis().excite(EXCITATION));
    await robot.wait(100);
    await tryGains();
    expect(written().lastIndexOf('guarded_excitation')).to.be.below(written().indexOf('commit'));
    await robot.during(chassis().gains.endTrial('ended'));
    expect(given()).to.deep.equal([
      ['speed', 0.5, 0],
      ['speed', 0.5, RUNAWAY],
      ['speed', 0.5, 0],
    ]);
    expect(chassis().excitation()).to.deep.equal(EXCITATION);
  });

  it('travels with its wave: one frame moves both to another loop, and one frame ends both', async () => {
    await tryGains();
    robot.frames.length = 0;
    await robot.during(chassis().excite(EXCITATION, undefined, 1.5));
    await robot.during(chassis().excite({ ...EXCITATION, loop: 'angle' }));
    await robot.during(chassis().endTuning('a', { ...EXCITATION, loop: 'angle' }));
    await robot.wait(100);
    expect(given()).to.deep.equal([
      ['speed', 0.5, 1.5],
      ['angle', 0.5, Math.fround(2.2)],
      ['angle', 0, 0],
    ]);
  });

  it('is given again to a trial whose wave somebody else replaced', async () => {
    await robot.during(chassis().excite(EXCITATION));
    await tryGains();
    robot.frames.length = 0;
    const { address } = unit;
    const frame = encodeFrame(address, REGISTERS.excitation, { slot: 0, amplitude: 0.5, period_s: 1 });
    await robot.sim.hardware.bus.writeBlock(address, REGISTERS.excitation.address, frame);
    await robot.wait(100);
    expect(given()).to.deep.equal([['speed', 0.5, RUNAWAY]]);
  });

  it('tells a daemon that starts in the middle of a trial to end the wave, and to leave others on', async () => {
    await robot.during(chassis().excite(EXCITATION));
    await robot.restart();
    await robot.wait(100);
    expect(chassis().excitation()).to.deep.equal(EXCITATION);
    await tryGains();
    await robot.restart();
    await robot.wait(100);
    expect(chassis().excitation().amplitude).to.equal(0);
  });

  it('is not used with the firmware of 0.2.0, which gets the short frame and is named as such', async () => {
    const { bus } = robot.sim.hardware;
    const read = bus.readBlock.bind(bus);
    bus.readBlock = async (address, register, length) => {
      const frame = await read(address, register, length);
      if (register !== REGISTERS.status.address) return frame;
      const status = decodeFrame(address, REGISTERS.status, frame);
      return encodeFrame(address, REGISTERS.status, { ...status, flags: (status.flags & 0x0f) | 0x10 });
    };
    await robot.wait(40);
    robot.frames.length = 0;
    await robot.during(chassis().excite(EXCITATION));
    await tryGains();
    await robot.wait(100);
    expect(written().filter(register => register.includes('excitation'))).to.deep.equal(['excitation']);
    expect(robot.frames.some(({ register }) => register === 'guarded_excitation')).to.equal(false);
    expect(chassis().report()).to.deep.include({ guardsTrials: false, excitation: EXCITATION });
    expect(chassis().trial?.id).to.equal('a');
  });

  it('ends the trial and its wave when it acts, and everybody sees why', async () => {
    await robot.during(chassis().excite(EXCITATION));
    await tryGains();
    // The measured value of the scripted speed loop grows by 1 m/s in a second, its setpoint stays at 0.
    await robot.wait(1000 * RUNAWAY);
    expect(chassis().report()).to.deep.include({ trial: undefined, faults: ['ran_away'], applied: true });
    expect(chassis().excitation().amplitude).to.equal(0);
    expect(robot.events).to.deep.include({
      what: 'trial-ended',
      unit: 'chassis',
      detail: { by: 'lab', why: 'runaway' },
    });
    const { gains } = robot.truth('chassis');
    expect(gains?.speed?.kp).to.equal(robot.robot.store.current('chassis').gains.speed?.kp);
    await robot.wait(500);
    expect(chassis().excitation().amplitude).to.equal(0);
  });

  it('refuses nobody who takes a wave away that it took away already', async () => {
    await robot.during(chassis().excite(EXCITATION));
    await tryGains();
    await robot.wait(1000 * RUNAWAY);
    expect(chassis().report().faults).to.deep.equal(['ran_away']);
    const { bus } = robot.sim.hardware;
    const write = bus.writeBlock.bind(bus);
    bus.writeBlock = async (address, register, data) => {
      if (register !== REGISTERS.guarded_excitation.address) return write(address, register, data);
      // Firmware may take so long until a frame is in force.
      robot.clock.after(TAKES_EFFECT_MS, () => void write(address, register, data));
    };
    expect(await robot.outcome(chassis().excite({ ...EXCITATION, amplitude: 0 }))).to.equal(200);
  });

  it('lets no wave come back that it took away while the wave was confirmed', async () => {
    await tryGains();
    const past = robot.loops.chassis.commands.length / 1000;
    let reads = 0;
    robot.intercept = async ({ kind, register }) => {
      if (register === 'guarded_excitation' && kind === 'read') reads += 1;
      // The measured value grows past the bound after the wave was read for the last time.
      if (register === 'status' && reads === 2)
        await new Promise<void>(resolve => robot.clock.after(30, resolve));
      return undefined;
    };
    expect(await robot.outcome(chassis().excite(EXCITATION, undefined, past + 0.02))).to.equal(
      'not-confirmed',
    );
    robot.intercept = () => undefined;
    await robot.wait(300);
    expect(robot.loops.chassis.last?.excitation.amplitude).to.equal(0);
    expect(chassis().report()).to.deep.include({ trial: undefined, faults: ['ran_away'], applied: true });
  });

  it('leaves a wave on when gains are tried right after it was answered', async () => {
    await robot.during(chassis().excite(EXCITATION));
    await tryGains();
    expect(chassis().excitation()).to.deep.equal(EXCITATION);
  });

  it('is given again to a controller that was reset', async () => {
    await robot.during(chassis().excite(EXCITATION));
    await tryGains();
    robot.fault('chassis', 'brownout');
    await robot.wait(600);
    await robot.during(chassis().setMode('debug'));
    robot.frames.length = 0;
    await robot.during(chassis().excite(EXCITATION));
    await tryGains();
    expect(given().at(-1)).to.deep.equal(['speed', 0.5, RUNAWAY]);
  });

  for (const [name, happens, shows] of [
    ['drives its loop away', () => runAway(), { faults: ['ran_away'] }],
    ['loses its controller to a brown-out', () => robot.fault('chassis', 'brownout'), { mode: 'manual' }],
  ] as const) {
    it(`lets no trial begin that ${name}, at whichever frame, while its wave gets a guard`, async () => {
      const saved = robot.robot.store.current('chassis').gains.speed?.kp;
      let happened = true;
      for (let at = 0; happened; at += 1) {
        await robot.end();
        robot = await ClockedRobot.start();
        await robot.during(chassis().setMode('debug'));
        await robot.during(chassis().excite(EXCITATION));
        let frames = 0;
        happened = false;
        robot.intercept = async frame => {
          if (frame.unit !== 'chassis' || happened) return undefined;
          frames += 1;
          if (frames <= at) return undefined;
          happened = true;
          happens();
          // Polls see what came of it before the request goes on.
          await new Promise<void>(resolve => robot.clock.after(40, resolve));
          return undefined;
        };
        await robot.outcome(tryGains());
        robot.intercept = () => undefined;
        if (!happened) continue;
        await robot.wait(300);
        expect(chassis().report(), `after frame ${at}`).to.deep.include({ ...shows, trial: undefined });
        expect(robot.truth('chassis').gains?.speed?.kp, `after frame ${at}`).to.equal(saved);
      }
    });
  }
});
