import { expect } from 'chai';
import { discretize } from '../../sim/physics/discretize.js';
import { stepFigures } from '../../src/core/step-figures.js';

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
  overshootPercent: null,
  riseS: null,
  settlingS: null,
  peakTimeS: null,
  steadyError: null,
  finalValue: null,
};

describe('step figures', () => {
  it('agree with the published stepinfo of a fourth-order system within 0.5 %', () => {
    const figures = stepFigures({ measured: referenceStep(0.001, 100), periodS: 0.001, setpoint: 1 });
    const reference = { riseS: 3.8456, settlingS: 27.9762, overshootPercent: 7.4915, peakTimeS: 8.053 };
    for (const [name, value] of Object.entries(reference)) {
      expect(figures[name as keyof typeof reference], name).closeTo(value, 0.005 * value);
    }
    expect(figures.finalValue).closeTo(2.5, 1e-3);
    expect(figures.steadyError).closeTo(-1.5, 1e-3);
  });

  it('interpolate between coarse samples', () => {
    const fine = stepFigures({ measured: referenceStep(0.001, 100), periodS: 0.001, setpoint: 1 });
    const coarse = stepFigures({ measured: referenceStep(0.1, 100), periodS: 0.1, setpoint: 1 });
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

  it('call no oscillation settled that goes on', () => {
    const measured = Array.from({ length: 1000 }, (_, index) => 1 - Math.cos(index / 10));
    expect(stepFigures({ measured, periodS: 1, setpoint: 1 }).settlingS).equal(null);
  });

  it('are null where the samples do not tell', () => {
    expect(stepFigures({ measured: [], periodS: 1, setpoint: 1 })).deep.equal(none);
    expect(stepFigures({ measured: [0, Number.NaN, 1], periodS: 1, setpoint: 1 })).deep.equal(none);
    expect(stepFigures({ measured: [0, 0, 0], periodS: 1, setpoint: 1 })).deep.equal({
      ...none,
      steadyError: 1,
      finalValue: 0,
    });
  });
});
