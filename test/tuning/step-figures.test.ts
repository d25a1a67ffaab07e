import { expect } from 'chai';
import { discretize } from '../../sim/physics/discretize.js';
import { seededNoise } from '../../sim/physics/noise.js';
import { stepFigures } from '../../src/tuning/step-figures.js';

/** Unit step of (s² + 5s + 5) / (s⁴ + 1.65s³ + 5s² + 6.5s + 2), in controllable canonical form. */
function referenceStep(periodS: number, seconds = 100): number[] {
  const rows = discretize(
    [
      [0, 1, 0, 0, 0],
      [0, 0, 1, 0, 0],
      [0, 0, 0, 1, 0],
      [-2, -6.5, -5, -1.65, 1],
    ],
    periodS,
  );
  let state = [0, 0, 0, 0];
  const outputs: number[] = [];
  for (let timeS = 0; timeS <= seconds; timeS += periodS) {
    const [x0 = 0, x1 = 0, x2 = 0] = state;
    outputs.push(5 * x0 + 5 * x1 + x2);
    state = rows.map(row => row.reduce((sum, factor, k) => sum + factor * (k < 4 ? state[k]! : 1), 0));
  }
  return outputs;
}

/** A response from 0 towards `final` with a time constant of 10 ms, sampled every millisecond, plus `more`. */
function approach(final: number, seconds: number, more: (timeS: number) => number = () => 0): number[] {
  return Array.from({ length: Math.round(seconds * 1000) }, (_, index) =>
    index === 0 ? 0 : final * (1 - Math.exp(-index / 10)) + more(index / 1000),
  );
}

const stepOf = (measured: number[], more: object = {}) =>
  stepFigures({ measured, periodS: 0.001, oldSetpoint: 0, setpoint: 1, ...more });
const swing = (timeS: number, hz: number) => Math.sin(2 * Math.PI * hz * timeS);

describe('the figures of a step response', () => {
  it('match those published for a fourth-order system within 0.6 %, for steps up and steps down', () => {
    const measured = referenceStep(0.001);
    const figures = stepFigures({ measured, periodS: 0.001, setpoint: 2.5 });
    const reference = { riseS: 3.8456, settlingS: 27.9762, overshootPercent: 7.4915, peakTimeS: 8.053 };
    const down = measured.map(value => 7 - 3 * value);
    for (const shown of [figures, stepFigures({ measured: down, periodS: 0.001, setpoint: -0.5 })]) {
      for (const [name, value] of Object.entries(reference)) {
        expect(shown[name as keyof typeof reference], name).closeTo(value, 0.005 * value);
      }
      expect(shown).include({ end: 'settled', oscillation: null });
      expect(shown.steadyError).closeTo(0, 1e-3);
    }
    expect(figures.finalValue).closeTo(2.5, 1e-3);
    expect(figures.peak).closeTo(2.5 * 1.074915, 0.01);
    // Without a setpoint, overshoot is relative to the final value.
    const open = stepFigures({ measured, periodS: 0.001 });
    expect(open.overshootPercent).closeTo(7.4915, 0.04);
    expect(open.steadyError).equal(null);
    const coarse = stepFigures({ measured: referenceStep(0.1), periodS: 0.1, setpoint: 2.5 });
    expect(coarse.riseS).closeTo(figures.riseS!, 0.01);
    expect(coarse.settlingS).closeTo(figures.settlingS!, 0.05);
  });

  it('show whether a response settles, rings, still moves at the end, or stops away from its setpoint', () => {
    const swinging = stepOf(
      Array.from({ length: 1000 }, (_, ms) => (ms ? 1 + 0.6 * swing(ms / 1000, 3.4) : 0)),
    );
    expect(swinging).include({ end: 'rings', settlingS: null });
    expect(swinging.overshootPercent).closeTo(60, 1);
    expect(swinging.oscillation?.swing).closeTo(0.6, 0.01);
    expect(swinging.oscillation?.frequencyHz).closeTo(3.4, 0.2);
    // Fewer than six samples in each period.
    const fast = stepOf(approach(1, 0.3, timeS => 0.08 * swing(timeS, 180)));
    expect(fast.end).equal('rings');
    expect(fast.oscillation?.frequencyHz).closeTo(180, 10);
    const dying = stepOf(approach(1, 1, timeS => 0.5 * Math.exp(-timeS / 0.08) * Math.sin(60 * timeS)));
    expect(dying).include({ end: 'settled', oscillation: null });
    expect(dying.settlingS).within(0.15, 0.35);
    const creeping = stepOf(Array.from({ length: 500 }, (_, index) => 1 - Math.exp(-index / 300)));
    expect(creeping).include({ end: 'moving', settlingS: null, overshootPercent: null });
    const off = stepOf(approach(0.8, 0.5));
    expect(off).include({ end: 'off', settlingS: null, overshootPercent: 0, riseS: null });
    expect(off.steadyError).closeTo(0.2, 1e-6);
    const noise = seededNoise(5);
    const noisy = stepOf(approach(1, 0.5, () => 0.012 * noise()));
    expect(noisy.bandPercent).within(3.4, 5);
    expect(noisy.end).equal('settled');
    expect(stepOf(approach(1, 0.5)).bandPercent).equal(2);
  });

  it('are measured from the old setpoint, and not from the first sample', () => {
    const measured = approach(1, 0.5).map(value => 0.1 + 0.9 * value);
    const figures = stepOf(measured, { oldSetpoint: -1, setpoint: 0.9 });
    expect(figures.overshootPercent).closeTo(100 * (0.1 / 1.9), 0.01);
    expect(figures.riseS).equal(null);
  });

  it('include the sum of the error over time, and the share of time in which a recorded output was at its limit', () => {
    expect(stepOf(approach(1, 1)).iae).closeTo(0.01, 0.001);
    expect(stepOf([0, 2, 2, 2], { periodS: 0.5 }).iae).equal(2);
    const seen = { output: [24, 23.99, -24, 3, 0], outputLimits: { min: -24, max: 24 } };
    expect(stepOf(approach(1, 0.5), seen).atLimitShare).equal(0.6);
    expect(stepOf(approach(1, 0.5)).atLimitShare).equal(null);
  });

  it('are null if they cannot be measured, as with invalid samples or a response that does not move', () => {
    for (const measured of [[], [0, Number.NaN, 1]]) {
      expect(new Set(Object.values(stepOf(measured)))).deep.equal(new Set([null]));
    }
    const { steadyError, finalValue, iae, ...others } = stepOf([0, 0, 0], { periodS: 1 });
    expect([steadyError, finalValue, iae]).deep.equal([1, 0, 3]);
    expect(new Set(Object.values(others))).deep.equal(new Set([null]));
  });
});
