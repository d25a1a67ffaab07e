import { expect } from 'chai';
import { caveatOf, predictedCurve, stepCurves, wildnessOf } from '../../src/console/model/step-curve.js';

const step = (measured: number[], setpoint: number[], periodS = 0.1) => ({
  periodS,
  samples: { measured, setpoint },
});

describe('the curve of a captured step', () => {
  it('rises even if the step goes down, so that a step down looks like a step up of the same height', () => {
    const up = stepCurves(step([1.5, 2, 3], [1, 3, 3]));
    const down = stepCurves(step([4.5, 4, 3], [5, 3, 3]));
    expect(down).to.deep.equal(up);
    expect(up.measured[1]).to.deep.equal([0.5, 1, 2]);
    expect(up.setpoint[1]).to.deep.equal([0, 2, 2]);
  });

  it('equals the predicted curve if the loop moves exactly as predicted', () => {
    const curve = { periodS: 0.1, setpoint: 1, measured: [-1, 0, 1] };
    const predicted = predictedCurve({ settlingS: 0.2, overshootPercent: 0, fitPercent: 1, curve });
    expect(predicted).to.deep.equal(stepCurves(step([-1, 0, 1], [-1, 1, 1])).measured);
  });

  it('has a warning if the loop had not settled at its setpoint when the capture ended', () => {
    const captured = step([0, 1, 2], [0, 2, 2]);
    const withEnd = (end: 'settled' | 'moving' | 'off') => caveatOf({ ...captured, figures: { end } });
    expect(withEnd('moving')).to.equal('Still moving after 0.3 s: the period is too short for this loop.');
    expect(withEnd('off')).to.match(/not at its setpoint/);
    expect(withEnd('settled')).to.equal(undefined);
  });
});

describe('the description of a captured step', () => {
  const step = (
    end: 'moving' | 'rings',
    peak: number,
    oscillation: { swing: number; frequencyHz: number } | null,
  ) => ({ oldSetpoint: 1, setpoint: 0, figures: { end, peak, oscillation } }) as never;

  it('says “wild” if the loop overshoots by 110 % and still moves when the capture ends, but not if it overshoots by only 90 %', () => {
    expect(wildnessOf(step('moving', -1.1, null), 'rad')).to.equal(
      'wild: 110 % beyond the setpoint, and still moving',
    );
    expect(wildnessOf(step('moving', -0.9, null), 'rad')).to.equal(undefined);
  });

  it('gives the amplitude and frequency of the oscillation if the loop still oscillates when the capture ends', () => {
    const swings = { swing: 0.123, frequencyHz: 4.56 };
    expect(wildnessOf(step('rings', -2, swings), 'rad')).to.equal('oscillates ±0.12 rad, 4.6 Hz');
  });
});
