import { expect } from 'chai';
import { caveatOf, predictedCurve, stepCurves, wildnessOf } from '../../src/console/model/step-curve.js';

const step = (measured: number[], setpoint: number[], periodS = 0.1) => ({
  periodS,
  samples: { measured, setpoint },
});

describe('steps that are drawn', () => {
  it('have the same curve upwards and downwards, from the old setpoint to the new one', () => {
    const up = stepCurves(step([1.5, 2, 3], [1, 3, 3]));
    const down = stepCurves(step([4.5, 4, 3], [5, 3, 3]));
    expect(down).to.deep.equal(up);
    expect(up.measured[1]).to.deep.equal([0.5, 1, 2]);
    expect(up.setpoint[1]).to.deep.equal([0, 2, 2]);
  });

  it('have the axis of the predicted curve', () => {
    const curve = { periodS: 0.1, setpoint: 1, measured: [-1, 0, 1] };
    const predicted = predictedCurve({ settlingS: 0.2, overshootPercent: 0, fitPercent: 1, curve });
    expect(predicted).to.deep.equal(stepCurves(step([-1, 0, 1], [-1, 1, 1])).measured);
  });

  it('have a warning if they did not settle, or settled beside the setpoint', () => {
    const captured = step([0, 1, 2], [0, 2, 2]);
    const withEnd = (end: 'settled' | 'moving' | 'off') => caveatOf({ ...captured, figures: { end } });
    expect(withEnd('moving')).to.equal('Still moving after 0.3 s: the period is too short for this loop.');
    expect(withEnd('off')).to.match(/not at its setpoint/);
    expect(withEnd('settled')).to.equal(undefined);
  });
});

describe('a step that does not come to rest', () => {
  const step = (
    end: 'moving' | 'rings',
    peak: number,
    oscillation: { swing: number; frequencyHz: number } | null,
  ) => ({ oldSetpoint: 1, setpoint: 0, figures: { end, peak, oscillation } }) as never;

  it('is called wild if it ends moving after an overshoot above 100 %, and not if it is less', () => {
    expect(wildnessOf(step('moving', -1.1, null), 'rad')).to.equal(
      'wild: 110 % beyond the setpoint, and still moving',
    );
    expect(wildnessOf(step('moving', -0.9, null), 'rad')).to.equal(undefined);
  });

  it('says how it oscillates if it rings', () => {
    const swings = { swing: 0.123, frequencyHz: 4.56 };
    expect(wildnessOf(step('rings', -2, swings), 'rad')).to.equal('oscillates ±0.12 rad, 4.6 Hz');
  });
});
