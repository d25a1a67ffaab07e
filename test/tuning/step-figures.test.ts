import { expect } from 'chai';
import { discretize } from '../../sim/physics/discretize.js';
import { seededNoise } from '../../sim/physics/noise.js';
import { stepFigures } from '../../src/tuning/step-figures.js';

/** Unit step of (s² + 5s + 5) / (s⁴ + 1.65s³ + 5s² + 6.5s + 2), in controllable canonical form. */
function referenceStep(periodS: number, seconds: number): number[] {
  const rows = discretize(
    [
      [0, 1, 0, 0],
      [0, 0, 1, 0],
      [0, 0, 0, 1],
      [-2, -6.5, -5, -1.65],
    ],
    [[0], [0], [0], [1]],
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

const none = {
  end: null,
  overshootPercent: null,
  riseS: null,
  settlingS: null,
  bandPercent: null,
  peak: null,
  peakTimeS: null,
  steadyError: null,
  finalValue: null,
  iae: null,
  oscillation: null,
  atLimitShare: null,
};

/**
 * A response from 0 towards `final` with a time constant of 10 ms, sampled every millisecond, with what `more` adds.
 */
function approach(final: number, seconds: number, more: (timeS: number) => number = () => 0): number[] {
  return Array.from({ length: Math.round(seconds * 1000) }, (_, index) => {
    const timeS = index / 1000;
    return index === 0 ? 0 : final * (1 - Math.exp(-timeS / 0.01)) + more(timeS);
  });
}

const stepOf = (measured: number[]) => stepFigures({ measured, periodS: 0.001, oldSetpoint: 0, setpoint: 1 });

describe('step figures', () => {
  it('agree with the published stepinfo of a fourth-order system within 0.5 %', () => {
    const figures = stepFigures({ measured: referenceStep(0.001, 100), periodS: 0.001, setpoint: 2.5 });
    const reference = { riseS: 3.8456, settlingS: 27.9762, overshootPercent: 7.4915, peakTimeS: 8.053 };
    for (const [name, value] of Object.entries(reference)) {
      expect(figures[name as keyof typeof reference], name).closeTo(value, 0.005 * value);
    }
    expect(figures).include({ end: 'settled', oscillation: null });
    expect(figures.finalValue).closeTo(2.5, 1e-3);
    expect(figures.peak).closeTo(2.5 * 1.074915, 0.01);
    expect(figures.steadyError).closeTo(0, 1e-3);
  });

  it('of an open loop are measured against its own final value', () => {
    const figures = stepFigures({ measured: referenceStep(0.001, 100), periodS: 0.001 });
    expect(figures.overshootPercent).closeTo(7.4915, 0.04);
    expect(figures.steadyError).equal(null);
  });

  it('interpolate between coarse samples', () => {
    const fine = stepFigures({ measured: referenceStep(0.001, 100), periodS: 0.001, setpoint: 2.5 });
    const coarse = stepFigures({ measured: referenceStep(0.1, 100), periodS: 0.1, setpoint: 2.5 });
    expect(coarse.riseS).closeTo(fine.riseS!, 0.01);
    expect(coarse.settlingS).closeTo(fine.settlingS!, 0.05);
  });

  it('are the same for a step down from elsewhere', () => {
    const up = referenceStep(0.01, 100);
    const down = up.map(value => 7 - 3 * value);
    const expected = stepFigures({ measured: up, periodS: 0.01, setpoint: 2.5 });
    const figures = stepFigures({ measured: down, periodS: 0.01, setpoint: -0.5 });
    expect(figures.overshootPercent).closeTo(expected.overshootPercent!, 1e-9);
    expect(figures.riseS).closeTo(expected.riseS!, 1e-9);
    expect(figures.settlingS).closeTo(expected.settlingS!, 1e-9);
    expect(figures.peakTimeS).equal(expected.peakTimeS);
    expect(figures.steadyError).closeTo(0, 1e-3);
  });

  it('call a loop that swings for ever what it is', () => {
    const swinging = Array.from({ length: 1000 }, (_, index) =>
      index === 0 ? 0 : 1 + 0.6 * Math.sin((2 * Math.PI * 3.4 * index) / 1000),
    );
    const figures = stepOf(swinging);
    expect(figures.end).equal('rings');
    expect(figures.settlingS).equal(null);
    expect(figures.overshootPercent).closeTo(60, 1);
    expect(figures.oscillation?.swing).closeTo(0.6, 0.01);
    expect(figures.oscillation?.frequencyHz).closeTo(3.4, 0.2);
  });

  it('see a swing that is nearly as fast as the samples, and do not take it for noise', () => {
    const fast = approach(1, 0.3, timeS => 0.08 * Math.sin(2 * Math.PI * 180 * timeS));
    expect(stepOf(fast).end).equal('rings');
    expect(stepOf(fast).oscillation?.frequencyHz).closeTo(180, 10);
  });

  it('call a ringing that dies away settled', () => {
    const figures = stepOf(approach(1, 1, timeS => 0.5 * Math.exp(-timeS / 0.08) * Math.sin(60 * timeS)));
    expect(figures).include({ end: 'settled', oscillation: null });
    expect(figures.settlingS).within(0.15, 0.35);
  });

  it('say that a record was too short, and then claim no overshoot', () => {
    const creeping = Array.from({ length: 500 }, (_, index) => 1 - Math.exp(-index / 300));
    expect(stepOf(creeping)).include({ end: 'moving', settlingS: null, overshootPercent: null });
  });

  it('say that a response stands still where it was not asked to', () => {
    const figures = stepOf(approach(0.8, 0.5));
    expect(figures).include({ end: 'off', settlingS: null, overshootPercent: 0, riseS: null });
    expect(figures.steadyError).closeTo(0.2, 1e-6);
  });

  it('are measured against the old setpoint, not against where the response happened to be', () => {
    const measured = approach(1, 0.5).map(value => 0.1 + 0.9 * value);
    const figures = stepFigures({ measured, periodS: 0.001, oldSetpoint: -1, setpoint: 0.9 });
    expect(figures.overshootPercent).closeTo(100 * (0.1 / 1.9), 0.01);
    expect(figures.riseS).equal(null);
  });

  it('widen the band for noise only', () => {
    const noise = seededNoise(5);
    const noisy = stepOf(approach(1, 0.5, () => 0.012 * noise()));
    expect(noisy.bandPercent).within(3.4, 5);
    expect(noisy.end).equal('settled');
    expect(stepOf(approach(1, 0.5)).bandPercent).equal(2);
  });

  it('integrate the absolute error', () => {
    expect(stepOf(approach(1, 1)).iae).closeTo(0.01, 0.001);
    const over = stepFigures({ measured: [0, 2, 2, 2], periodS: 0.5, oldSetpoint: 0, setpoint: 1 });
    expect(over.iae).equal(2);
  });

  it('say how long the output stood at a limit, if it was seen', () => {
    const outputLimits = { min: -24, max: 24 };
    const output = [24, 23.99, -24, 3, 0];
    const samples = { measured: approach(1, 0.5), periodS: 0.001, oldSetpoint: 0, setpoint: 1 };
    expect(stepFigures({ ...samples, output, outputLimits }).atLimitShare).equal(0.6);
    expect(stepFigures(samples).atLimitShare).equal(null);
  });

  it('are null where the samples do not show it', () => {
    expect(stepFigures({ measured: [], periodS: 1, setpoint: 1 })).deep.equal(none);
    expect(stepFigures({ measured: [0, Number.NaN, 1], periodS: 1, setpoint: 1 })).deep.equal(none);
    expect(stepFigures({ measured: [0, 0, 0], periodS: 1, setpoint: 1 })).deep.equal({
      ...none,
      steadyError: 1,
      finalValue: 0,
      iae: 3,
    });
  });
});
