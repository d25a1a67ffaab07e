import { expect } from 'chai';
import { unitNamed } from '../../src/core/units.js';
import { REGISTERS, TAKES_EFFECT_MS } from '../../src/protocol/registers.js';
import { ClockedRobot, type Fate, type Frame } from '../support/clocked-robot.js';

const WAVE = { loop: 'speed', amplitude: 0.5, periodS: 1 };
const unit = unitNamed('chassis');
const RUNAWAY = unit.loops[0]!.runaway;

describe("the controller's guard of the excitation", () => {
  let robot: ClockedRobot;
  /** The loops that were excited when the controller got a guard for another one. */
  let meetings: string[];
  let meets: (frame: Frame) => Fate;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
    meetings = [];
    meets = () => undefined;
    let excited = '';
    robot.intercept = frame => {
      const data = Buffer.from(frame.data, 'hex');
      if (frame.kind === 'write' && frame.register === 'excitation') {
        const loop = unit.loops.find(({ slot }) => slot === data.readUInt8());
        excited = loop === undefined || data.readFloatLE(1) === 0 ? '' : loop.name;
      }
      if (frame.kind === 'write' && frame.register === 'guard') {
        const bound = data.readFloatLE();
        const meant = bound === 1.5 || bound === RUNAWAY ? 'speed' : 'angle';
        if (bound !== 0 && excited !== '' && excited !== meant) meetings.push(excited);
      }
      return meets(frame);
    };
    await robot.during(chassis().setMode('debug'));
    await robot.wait(100);
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
  /** The deviations that the controllers have been given, in this order. */
  const given = () =>
    robot.frames
      .filter(({ kind, register }) => kind === 'write' && register === 'guard')
      .map(({ data }) => Buffer.from(data, 'hex').readFloatLE());
  const written = () => robot.frames.filter(({ kind }) => kind === 'write').map(({ register }) => register);

  it('has the bound of the loop while gains are tried on its wave, before they run, and none otherwise', async () => {
    await robot.during(chassis().excite(WAVE));
    await robot.wait(100);
    expect(given().every(deviation => deviation === 0)).to.equal(true);
    robot.frames.length = 0;
    await tryGains();
    expect(given()).to.deep.equal([RUNAWAY]);
    expect(written().indexOf('guard')).to.be.below(written().indexOf('commit'));
    await robot.during(chassis().gains.endTrial('ended'));
    await robot.wait(100);
    expect(given()).to.deep.equal([RUNAWAY, 0]);
  });

  it('has the bound that a wave asks for, while another loop never has that of the one before', async () => {
    await tryGains();
    robot.frames.length = 0;
    await robot.during(chassis().excite(WAVE, undefined, 1.5));
    await robot.during(chassis().excite({ ...WAVE, loop: 'angle' }));
    await robot.wait(100);
    expect(given()).to.deep.equal([1.5, Math.fround(2.2)]);
    expect(meetings).to.deep.equal([]);
  });

  it('goes only after its wave, so that no daemon that starts in between takes the wave for a choice', async () => {
    const ends = () => written().filter(register => register === 'guard' || register === 'excitation');
    await tryGains();
    await robot.during(chassis().excite(WAVE));
    robot.frames.length = 0;
    await robot.during(chassis().excite({ ...WAVE, amplitude: 0 }));
    expect(ends()).to.deep.equal(['excitation', 'guard']);
    await robot.during(chassis().excite(WAVE));
    robot.frames.length = 0;
    await robot.during(chassis().endTuning('a', WAVE));
    expect(ends()).to.deep.equal(['excitation', 'guard']);
  });

  it('comes before a wave on another loop than the one that rests', async () => {
    await robot.during(chassis().excite({ ...WAVE, amplitude: 0, loop: 'angle' }));
    await robot.wait(100);
    await tryGains();
    robot.frames.length = 0;
    await robot.during(chassis().excite(WAVE));
    expect(given()).to.deep.equal([RUNAWAY]);
    expect(written().indexOf('guard')).to.be.below(written().indexOf('excitation'));
  });

  for (const [name, spoils] of [
    ['whose guard fails', { kind: 'write', register: 'guard', fate: 'fails', after: 1 }],
    ['which is not confirmed', { kind: 'read', register: 'status', fate: 'fails', after: 2 }],
    ['whose answer is lost', { kind: 'write', register: 'excitation', fate: 'answer lost', after: 2 }],
  ] as const) {
    it(`never meets the wave of a refused request ${name}, also while the trial is renewed`, async () => {
      await robot.during(chassis().excite(WAVE));
      await tryGains();
      let writes = 0;
      meets = ({ kind, register }) => {
        if (kind === 'write' && register === 'excitation') writes += 1;
        return writes >= spoils.after && kind === spoils.kind && register === spoils.register
          ? spoils.fate
          : undefined;
      };
      const refused = robot.outcome(chassis().excite({ ...WAVE, loop: 'angle' }));
      const renewal = robot.outcome(tryGains());
      expect(await refused).to.not.equal(200);
      meets = () => undefined;
      await renewal;
      await robot.wait(200);
      expect(meetings).to.deep.equal([]);
      expect(chassis().report()).to.deep.include({ faults: [], excitation: WAVE });
      expect(chassis().trial?.id).to.equal('a');
      expect(given().at(-1)).to.equal(RUNAWAY);
    });
  }

  it('ends the trial and its wave when it acts, and everybody sees why', async () => {
    await robot.during(chassis().excite(WAVE));
    await tryGains();
    // The measured value of the scripted speed loop grows by 1 m/s in a second, its setpoint stays at 0.
    await robot.wait(1000 * RUNAWAY);
    expect(chassis().report()).to.deep.include({ trial: undefined, faults: ['ran_away'], applied: true });
    expect(chassis().excitation().amplitude).to.equal(0);
    expect(robot.events).to.deep.include({ what: 'trial', unit: 'chassis', by: 'lab', ended: 'runaway' });
    const { gains } = robot.truth('chassis');
    expect(gains?.speed?.kp).to.equal(robot.robot.store.current('chassis').gains.speed?.kp);
    await robot.wait(500);
    expect(chassis().excitation().amplitude).to.equal(0);
  });

  it('refuses nobody who takes a wave away that it took away already', async () => {
    await robot.during(chassis().excite(WAVE));
    await tryGains();
    await robot.wait(1000 * RUNAWAY);
    expect(chassis().report().faults).to.deep.equal(['ran_away']);
    const { bus } = robot.sim.hardware;
    const write = bus.writeBlock.bind(bus);
    bus.writeBlock = async (address, register, data) => {
      if (register !== REGISTERS.excitation.address) return write(address, register, data);
      // Firmware may take so long until a frame is in force.
      robot.clock.after(TAKES_EFFECT_MS, () => void write(address, register, data));
    };
    expect(await robot.outcome(chassis().excite({ ...WAVE, amplitude: 0 }))).to.equal(200);
  });

  it('lets no wave come back that it took away while the wave was confirmed', async () => {
    await tryGains();
    const past = robot.loops.chassis.commands.length / 1000;
    let reads = 0;
    robot.intercept = async ({ kind, register }) => {
      if (register === 'excitation' && kind === 'read') reads += 1;
      // The measured value grows past the bound after the wave was read for the last time.
      if (register === 'status' && reads === 2)
        await new Promise<void>(resolve => robot.clock.after(30, resolve));
      return undefined;
    };
    expect(await robot.outcome(chassis().excite(WAVE, undefined, past + 0.02))).to.equal('not-confirmed');
    robot.intercept = () => undefined;
    await robot.wait(300);
    expect(robot.loops.chassis.last?.excitation.amplitude).to.equal(0);
    expect(chassis().report()).to.deep.include({ trial: undefined, faults: ['ran_away'], applied: true });
  });

  it('leaves a wave on when gains are tried right after it was answered', async () => {
    await robot.during(chassis().excite(WAVE));
    await tryGains();
    expect(chassis().excitation()).to.deep.equal(WAVE);
  });

  it('is given again to a controller that was reset', async () => {
    await robot.during(chassis().excite(WAVE));
    await tryGains();
    robot.fault('chassis', 'brownout');
    await robot.wait(600);
    await robot.during(chassis().setMode('debug'));
    robot.frames.length = 0;
    await robot.during(chassis().excite(WAVE));
    await tryGains();
    expect(given().at(-1)).to.equal(RUNAWAY);
  });

  for (const [name, happens, shows] of [
    ['drives its loop away', () => runAway(), { faults: ['ran_away'] }],
    ['loses its controller to a brown-out', () => robot.fault('chassis', 'brownout'), { mode: 'manual' }],
  ] as const) {
    it(`lets no trial begin that ${name}, at whichever frame, while its wave begins anew`, async () => {
      const saved = robot.robot.store.current('chassis').gains.speed?.kp;
      let happened = true;
      for (let at = 0; happened; at += 1) {
        await robot.end();
        robot = await ClockedRobot.start();
        await robot.during(chassis().setMode('debug'));
        // A wave that was asked for just now may still begin: it ends for the guard, and begins anew.
        await robot.during(chassis().excite(WAVE));
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
