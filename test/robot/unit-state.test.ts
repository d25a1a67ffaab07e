import { expect } from 'chai';
import { Deadlines } from '../../src/core/deadlines.js';
import { defaultGains, type Excitation, type Mode, unitNamed } from '../../src/core/units.js';
import { gainsChecksum } from '../../src/protocol/codec.js';
import type { FLAGS } from '../../src/protocol/registers.js';
import type { News } from '../../src/robot/unit-rules.js';
import { UnitState } from '../../src/robot/unit-state.js';
import { ManualClock } from '../support/manual-clock.js';

const unit = unitNamed('chassis');
const SAVED = defaultGains(unit);
const OTHER = { ...SAVED, speed: { kp: 1, ki: 2, kd: 3 } };
const EXCITED: Excitation = { loop: 'speed', amplitude: 0.5, periodS: 1 };
const SHOWN = { ...EXCITED, deviation: 0 };

interface Shown {
  readonly mode?: Mode;
  readonly flags?: readonly (typeof FLAGS)[number][];
  readonly gains?: typeof SAVED;
}

const clock = new ManualClock();

class Bench {
  readonly events: News[] = [];
  readonly state = new UnitState({
    unit,
    clock,
    deadlines: new Deadlines(clock),
    saved: () => SAVED,
    restores: () => false,
    emit: event => this.events.push(event),
  });
  #last: Shown = {};

  /** The excitation that the log names last. */
  get excitation(): unknown {
    return this.events.findLast(event => event.what === 'excitation')?.detail;
  }

  /** A caller was answered that the controller shows the excitation. */
  excite(): void {
    const excitation = this.state.observed.show(SHOWN);
    this.state.take('excitation', { excitation });
  }

  /** Reports a status of the controller: the last one, with these changes. */
  shows(changed: Shown = {}): void {
    this.#last = { ...this.#last, ...changed };
    const { mode = 'manual', flags = ['torque'], gains = SAVED } = this.#last;
    const activeChecksum = gainsChecksum(unit, gains);
    this.state.saw({ bootId: 1, mode, flags, faults: [], activeChecksum, capture: 0 });
  }
}

/* This file tests UnitState alone. The other tests in this folder test mode, excitation and latch over the simulated bus. */
describe('the daemon', () => {
  let bench: Bench;
  beforeEach(() => {
    bench = new Bench();
  });

  it('adopts the excitation that a controller shows at a switch to debug, and does not restart an earlier excitation', () => {
    bench.shows();
    bench.shows({ mode: 'debug' });
    bench.state.confirmedMode('debug', { ...SHOWN, amplitude: 0 });
    bench.excite();
    expect(bench.state.observed.excitation).to.deep.equal(EXCITED);
    bench.state.confirmedMode('manual', undefined);
    bench.shows({ mode: 'manual' });
    bench.shows({ mode: 'debug' });
    bench.state.confirmedMode('debug', { ...SHOWN, amplitude: 0 });
    expect(bench.state.difference).to.equal(undefined);
    bench.state.confirmedMode('manual', undefined);
    bench.state.confirmedMode('debug', SHOWN);
    expect(bench.excitation).to.deep.equal(EXCITED);
  });
  it('sets the latch of a controller during a resume only if another stop comes', () => {
    const { latch } = bench.state;
    bench.shows();
    bench.state.endExcitation('stop', {});
    bench.state.take('resume begun', {});
    expect(latch.step).to.equal(undefined);
    bench.state.endExcitation('stop', {});
    expect(latch.step).to.equal('set');
  });
  it('stops counting a controller as latched when it writes an unlatch, even if that controller had latched itself', async () => {
    const { latch } = bench.state;
    bench.shows();
    bench.shows({ flags: ['stopped'] });
    expect([latch.step, latch.holds]).to.deep.equal(['found', true]);
    bench.state.endExcitation('stop', {});
    await latch.writeRelease(() => Promise.resolve());
    expect(latch.holds).to.equal(false);
    bench.state.released(true);
    bench.shows();
    expect(latch.step).to.equal('unlatch');
  });

  it('must give a controller the gains of the newest save in progress, or the saved gains if no save is in progress', () => {
    bench.shows();
    bench.state.take('save', { gains: OTHER });
    bench.state.take('save', { gains: SAVED });
    expect(bench.state.difference).to.equal(undefined);
    bench.state.take('save over', { gains: SAVED });
    expect(bench.state.difference?.gains).to.equal(OTHER);
    bench.state.take('save over', { gains: OTHER });
    expect(bench.state.difference).to.equal(undefined);
  });

  it('accepts an excitation that a controller shows during a trial, but must restore the gains of the trial if the controller shows others', () => {
    bench.shows({ mode: 'debug', flags: ['torque', 'target_visible'] });
    bench.state.take('trial', { id: 'a', by: 'lab', gains: OTHER, endsAtMs: 1000 });
    bench.state.sawExcitation(SHOWN);
    expect(bench.excitation).to.deep.equal(EXCITED);
    bench.shows({ gains: OTHER });
    expect(bench.state.difference).to.equal(undefined);
    bench.shows({ gains: SAVED });
    expect(bench.state.difference?.gains).to.equal(OTHER);
  });
});
