import { expect } from 'chai';
import { unitNamed } from '../../src/core/units.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import { ClockedRobot, write } from '../support/clocked-robot.js';

const EXCITATION = { loop: 'speed', amplitude: 0.5, periodS: 1 };
const unit = unitNamed('chassis');
const RUNAWAY = unit.loops[0]!.runaway;

describe("the controller's guard against a runaway loop", () => {
  let robot: ClockedRobot;
  beforeEach(async () => {
    robot = await ClockedRobot.start();
    await robot.during(chassis().setMode('debug'));
    await robot.wait(100);
    robot.frames.length = 0;
  });
  afterEach(() => robot.end());

  const chassis = () => robot.chassis;
  const tryGains = () => robot.during(robot.tryGains(1));
  const triesExcited = async () => {
    await robot.during(chassis().excite(EXCITATION));
    await tryGains();
  };
  /** Moves the speed loop so far from its setpoint that the guard ends the excitation. */
  const runAway = () => {
    robot.loops.chassis.readings.speed!.setpoint = -10 * RUNAWAY;
  };
  const written = () => robot.frames.filter(({ kind }) => kind === 'write').map(({ register }) => register);
  /** Loop, amplitude and guard of each excitation that was written. */
  const given = () =>
    robot.frames
      .filter(({ kind, register }) => kind === 'write' && register === 'guarded_excitation')
      .map(({ data }) => {
        const frame = Buffer.from(data, 'hex');
        const loop = unit.loops.find(({ slot }) => slot === frame.readUInt8());
        return [loop?.name, frame.readFloatLE(1), frame.readFloatLE(9)];
      });

  it("is set to the loop's bound before the gains of a trial take effect, and is removed when the trial ends", async () => {
    await robot.during(chassis().excite(EXCITATION));
    await robot.wait(100);
    await tryGains();
    expect(written().lastIndexOf('guarded_excitation')).to.be.below(written().indexOf('commit'));
    await robot.during(chassis().gains.endTrial());
    expect(given()).to.deep.equal([
      ['speed', 0.5, 0],
      ['speed', 0.5, RUNAWAY],
      ['speed', 0.5, 0],
    ]);
    expect(chassis().excitation()).to.deep.equal(EXCITATION);
  });

  it('changes in the same frame as the excitation, so that both always belong to the same loop', async () => {
    await tryGains();
    robot.frames.length = 0;
    await robot.during(chassis().excite(EXCITATION, { runaway: 1.5 }));
    await robot.during(chassis().excite({ ...EXCITATION, loop: 'angle' }));
    await robot.during(chassis().endTuning('a', { ...EXCITATION, loop: 'angle' }));
    await robot.wait(100);
    expect(given()).to.deep.equal([
      ['speed', 0.5, 1.5],
      ['angle', 0.5, Math.fround(2.2)],
      ['angle', 0, 0],
    ]);
  });

  it('is set again if another host on the bus overwrites the excitation during a trial', async () => {
    await triesExcited();
    robot.frames.length = 0;
    await write(robot, 'chassis', REGISTERS.excitation, { slot: 0, amplitude: 0.5, period_s: 1 });
    await robot.wait(100);
    expect(given()).to.deep.equal([['speed', 0.5, RUNAWAY]]);
  });

  it('makes a restarted daemon end the excitation; after a restart without a guard, the excitation continues', async () => {
    await robot.during(chassis().excite(EXCITATION));
    await robot.restart();
    await robot.wait(100);
    expect(chassis().excitation()).to.deep.equal(EXCITATION);
    await tryGains();
    await robot.restart();
    await robot.wait(100);
    expect(chassis().excitation().amplitude).to.equal(0);
  });

  it('is not used with firmware 0.2.0, which has no guard, and the status shows `guardsTrials: false`', async () => {
    robot.alter(REGISTERS.status, ({ flags }) => ({ flags: (flags & 0x0f) | 0x10 }));
    await robot.wait(40);
    robot.frames.length = 0;
    await triesExcited();
    await robot.wait(100);
    expect(written().filter(register => register.includes('excitation'))).to.deep.equal(['excitation']);
    expect(robot.frames.some(({ register }) => register === 'guarded_excitation')).to.equal(false);
    expect(chassis().report()).to.deep.include({ guardsTrials: false, excitation: EXCITATION });
    expect(chassis().trial?.id).to.equal('a');
  });

  it('ends the excitation and the trial if the loop runs away, and both the status and the event give the runaway as the reason', async () => {
    await triesExcited();
    // The measured value of the scripted speed loop grows by 1 m/s per second. Its setpoint stays at 0.
    await robot.wait(1000 * RUNAWAY);
    expect(chassis().report()).to.deep.include({ trial: undefined, faults: ['ran_away'], applied: true });
    expect(chassis().excitation().amplitude).to.equal(0);
    const detail = { by: 'lab', why: 'runaway' };
    expect(robot.events).to.deep.include({ what: 'trial-ended', unit: 'chassis', detail });
    expect(robot.runningKp).to.equal(40);
    await robot.wait(500);
    expect(chassis().excitation().amplitude).to.equal(0);
    expect(await robot.outcome(chassis().excite({ ...EXCITATION, amplitude: 0 }))).to.equal(200);
  });

  it('ends an excitation for good even if the loop runs away before the daemon has confirmed the excitation', async () => {
    await tryGains();
    const past = robot.loops.chassis.commands.length / 1000;
    let reads = 0;
    robot.intercept = async ({ kind, register }) => {
      if (register === 'guarded_excitation' && kind === 'read') reads += 1;
      // The measured value exceeds the bound after the excitation was read for the last time.
      if (register === 'status' && reads === 2) await robot.pause(30);
      return undefined;
    };
    const excited = chassis().excite(EXCITATION, { runaway: past + 0.02 });
    expect(await robot.outcome(excited)).to.equal('not-confirmed');
    robot.allIsWell();
    await robot.wait(300);
    expect(robot.loops.chassis.last?.excitation.amplitude).to.equal(0);
    expect(chassis().report()).to.deep.include({ trial: undefined, faults: ['ran_away'], applied: true });
  });

  it('is set again for the first trial after a reset of the controller', async () => {
    await triesExcited();
    robot.fault('chassis', 'brownout');
    await robot.wait(600);
    await robot.during(chassis().setMode('debug'));
    robot.frames.length = 0;
    await triesExcited();
    expect(given().at(-1)).to.deep.equal(['speed', 0.5, RUNAWAY]);
  });

  for (const [name, happens, shows] of [
    ['the loop runs away', () => runAway(), { faults: ['ran_away'] }],
    ['a brown-out resets the controller', () => robot.fault('chassis', 'brownout'), { mode: 'manual' }],
  ] as const) {
    it(`if ${name} at any frame of the start of a trial, the trial ends and the saved gains run again`, async () => {
      let happened = true;
      let at = 0;
      for (; happened; at += 1) {
        await robot.end();
        robot = await ClockedRobot.start();
        await robot.during(chassis().setMode('debug'));
        await robot.during(chassis().excite(EXCITATION));
        happened = false;
        robot.each({ unit: 'chassis' }, async number => {
          if (number !== at + 1) return undefined;
          happened = true;
          happens();
          // Polls see the result before the request continues.
          await robot.pause(40);
          return undefined;
        });
        await robot.outcome(tryGains());
        robot.allIsWell();
        if (!happened) continue;
        await robot.wait(300);
        expect(chassis().report(), `after frame ${at}`).to.deep.include({ ...shows, trial: undefined });
        expect(robot.runningKp, `after frame ${at}`).to.equal(40);
      }
      expect(at).to.be.above(3);
    });
  }
});
