import { expect } from 'chai';
import { Deadlines } from '../../src/core/deadlines.js';
import { defaultGains, type Excitation, type Mode, unitNamed } from '../../src/core/units.js';
import { gainsChecksum } from '../../src/protocol/codec.js';
import type { FAULTS, FLAGS } from '../../src/protocol/registers.js';
import type { UnitEvent } from '../../src/robot/robot-event.js';
import { UnitState } from '../../src/robot/unit-state.js';
import { ManualClock } from '../support/manual-clock.js';

const unit = unitNamed('chassis');
const SAVED = defaultGains(unit);
const OTHER = { ...SAVED, speed: { kp: 1, ki: 2, kd: 3 } };
const WAVE: Excitation = { loop: 'speed', amplitude: 0.5, periodS: 1 };
const SHOWN = { ...WAVE, deviation: 0 };

interface Shown {
  readonly mode?: Mode;
  readonly boot?: number;
  readonly flags?: readonly (typeof FLAGS)[number][];
  readonly faults?: readonly (typeof FAULTS)[number][];
  readonly gains?: typeof SAVED;
}

const clock = new ManualClock();

class Bench {
  readonly events: UnitEvent[] = [];
  saved: typeof SAVED | undefined = SAVED;
  readonly state = new UnitState({
    unit,
    clock,
    deadlines: new Deadlines(clock),
    saved: () => this.saved,
    restores: () => false,
    emit: event => this.events.push(event),
  });
  #last: Shown = {};

  /** The excitation that the log names last. */
  get excitation(): unknown {
    return this.events.findLast(event => event.what === 'excitation')?.detail;
  }

  /** Reports a status of the controller: the last one, with these changes. */
  shows(changed: Shown = {}): void {
    this.#last = { ...this.#last, ...changed };
    const { mode = 'manual', boot = 1, flags = ['torque'], faults = [], gains = SAVED } = this.#last;
    const activeChecksum = gainsChecksum(unit, gains);
    this.state.saw({ bootId: boot, mode, flags, faults, activeChecksum, capture: 0 });
  }
}

function expectDifference({ state }: Bench, expected: Partial<NonNullable<UnitState['difference']>>): void {
  expect(state.difference).to.deep.equal({
    mode: undefined,
    gains: undefined,
    excitation: undefined,
    ...expected,
  });
}

/* This file tests UnitState alone. The other tests in this folder test mode, excitation and latch over the simulated bus. */
describe('what is wanted of a unit and what it shows', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });

  it('differs in gains until the saved ones run, and not while they cannot be read', () => {
    bench.shows({ gains: OTHER });
    expectDifference(bench, { gains: SAVED });
    bench.saved = undefined;
    expect(bench.state.difference).to.equal(undefined);
  });
  it('wants the mode that was confirmed, and its wave in debug only', () => {
    bench.shows();
    bench.shows({ mode: 'debug' });
    bench.state.confirmedMode('debug', { ...SHOWN, amplitude: 0 });
    bench.state.confirmedExcitation(SHOWN);
    expect(bench.state.excitation).to.deep.equal(WAVE);
    bench.state.confirmedMode('manual', undefined);
    bench.shows({ mode: 'manual' });
    bench.shows({ mode: 'debug' });
    bench.state.confirmedMode('debug', { ...SHOWN, amplitude: 0 });
    expect(bench.state.difference).to.equal(undefined);
    bench.state.confirmedMode('manual', undefined);
    bench.state.confirmedMode('debug', SHOWN);
    expect(bench.excitation).to.deep.equal(WAVE);
  });
  it('sets no latch while a resume is under way, unless a stop overtakes it', () => {
    const { latch } = bench.state;
    bench.shows();
    bench.state.wantStop();
    latch.isUnderRelease = true;
    expect(latch.step).to.equal(undefined);
    bench.state.wantStop();
    expect(latch.step).to.equal('set');
  });
  it("finds the controller's own latch, not that of a late frame, and holds none once a release was written", async () => {
    const { latch } = bench.state;
    bench.shows();
    bench.shows({ flags: ['stopped'] });
    expect([latch.step, latch.holds]).to.deep.equal(['found', true]);
    bench.state.wantStop();
    await latch.writeRelease(() => Promise.resolve());
    expect(latch.holds).to.equal(false);
    bench.state.released(true);
    bench.shows();
    expect(latch.step).to.equal('unlatch');
  });

  it('wants the newest save that the disk has not confirmed, and the saved gains after a failure', () => {
    bench.shows();
    bench.state.gains.beginSave(OTHER);
    bench.state.gains.beginSave(SAVED);
    expect(bench.state.difference).to.equal(undefined);
    bench.state.gains.endSave(SAVED);
    expectDifference(bench, { gains: OTHER });
    bench.state.gains.endSave(OTHER);
    expect(bench.state.difference).to.equal(undefined);
  });

  const TRIAL = { id: 'a', by: 'lab', gains: OTHER, endsAtMs: 1000 };
  const ends: [why: string, act: (bench: Bench) => unknown][] = [
    ['stop', b => b.state.wantStop()],
    ['mode change', b => b.state.confirmedMode('manual', undefined)],
    ['mode change', b => b.shows({ mode: 'manual' })],
    ['mode change', b => b.state.released(true)],
    ['mode change', b => b.state.released(false)],
    ['reset', b => b.shows({ boot: 2 })],
    ['fault', b => b.shows({ faults: ['over_current'] })],
    ['saved', b => b.state.gains.beginSave(SAVED)],
  ];
  for (const [why, act] of ends) {
    it(`runs a trial until its end by ${why}`, () => {
      bench.shows({ mode: 'debug', flags: ['torque', 'target_visible'] });
      bench.state.gains.beginTrial(TRIAL);
      expectDifference(bench, { gains: OTHER });
      bench.shows({ gains: OTHER });
      act(bench);
      expect(bench.state.gains.trial).to.equal(undefined);
      expect(bench.events).to.deep.include({ what: 'trial-ended', detail: { by: 'lab', why } });
    });
  }
  it('runs a trial until the target is lost, if a loop follows it', () => {
    bench.shows({ mode: 'auto', flags: ['torque', 'target_visible'] });
    bench.state.gains.beginTrial(TRIAL);
    bench.shows({ gains: OTHER, flags: ['torque'] });
    expect(bench.events).to.deep.include({ what: 'trial-ended', detail: { by: 'lab', why: 'target lost' } });
  });
  const keepsWave = (b: Bench) => expect(b.excitation).to.equal(undefined);
  const goOn: [through: string, mode: Mode, ...acts: ((bench: Bench) => unknown)[]][] = [
    ['a lost target in debug mode', 'debug', b => b.shows({ flags: ['torque'] })],
    ['a switch to the mode it has', 'auto', b => b.state.confirmedMode('auto', undefined)],
    ['a switch to debug in debug', 'debug', b => b.state.confirmedMode('debug', SHOWN), keepsWave],
    ['a resume in manual', 'manual', b => b.state.released(true)],
    ['a resume in manual that the controller has missed', 'manual', b => b.state.released(false)],
    ['a frame that was refused for noise', 'manual', b => b.shows({ faults: ['frame_refused'] })],
    [
      'a wave that the controller chooses',
      'debug',
      b => b.state.sawExcitation(SHOWN),
      b => expect(b.excitation).to.deep.equal(WAVE),
    ],
    [
      'gains that the controller changes, and gets its own back',
      'manual',
      b => b.shows({ gains: OTHER }),
      b => b.shows({ gains: SAVED }),
      b => expectDifference(b, { gains: OTHER }),
    ],
  ];
  for (const [through, mode, ...acts] of goOn) {
    it(`keeps a trial through ${through}`, () => {
      bench.shows({ mode, flags: ['torque', 'target_visible'] });
      bench.state.gains.beginTrial(TRIAL);
      const stillRenewed = bench.state.gains.noneEnded();
      for (const act of acts) act(bench);
      expect(bench.state.gains.trial).to.equal(TRIAL);
      stillRenewed();
    });
  }
  it('differs in the guard while a trial has a wave, if the firmware has guards', () => {
    const deviation = Math.fround(unit.loops[0]!.runaway);
    bench.shows({ mode: 'debug' });
    bench.state.confirmedExcitation(SHOWN);
    bench.state.gains.beginTrial(TRIAL);
    bench.shows({ gains: OTHER, flags: ['torque', 'withdrawn_guard'] });
    expect(bench.state.difference).to.equal(undefined);
    bench.shows({ flags: ['torque', 'guarded_excitation'] });
    expectDifference(bench, { excitation: { ...WAVE, deviation } });
    bench.state.sawExcitation({ ...WAVE, deviation });
    expect(bench.state.difference).to.equal(undefined);
    bench.state.forgetGuard();
    expectDifference(bench, { excitation: { ...WAVE, deviation } });
    bench.state.sawExcitation({ ...WAVE, deviation });
    bench.state.gains.endTrial('ended');
    expectDifference(bench, { gains: SAVED, excitation: SHOWN });
  });
  it('wants no wave back that the controller took away, whatever frames are under way', () => {
    bench.shows({ mode: 'debug', flags: ['torque', 'guarded_excitation'] });
    bench.state.confirmedExcitation(SHOWN);
    bench.state.gains.beginTrial(TRIAL);
    bench.state.excitationFrames.disturb();
    bench.shows({ faults: ['ran_away'] });
    bench.state.sawExcitation({ ...SHOWN, amplitude: 0 });
    expect(bench.state.difference).to.equal(undefined);
    expect(bench.events).to.deep.include({ what: 'trial-ended', detail: { by: 'lab', why: 'runaway' } });
  });
});
