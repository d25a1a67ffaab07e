import { expect } from 'chai';
import { caveatOf, predictedCurve, stepCurves } from '../../src/console/model/step-curve.js';

const step = (measured: number[], setpoint: number[], periodS = 0.1) => ({
  periodS,
  samples: { measured, setpoint },
});

describe('steps that are drawn', () => {
  it('lie on one another, up or down, from the old setpoint to the new one', () => {
    const up = stepCurves(step([1.5, 2, 3], [1, 3, 3]));
    const down = stepCurves(step([4.5, 4, 3], [5, 3, 3]));
    expect(down).to.deep.equal(up);
    expect(up.measured[1]).to.deep.equal([0.5, 1, 2]);
    expect(up.setpoint[1]).to.deep.equal([0, 2, 2]);
  });

  it('lie on what was predicted of them', () => {
    const curve = { periodS: 0.1, setpoint: 1, measured: [-1, 0, 1] };
    const predicted = predictedCurve({ settlingS: 0.2, overshootPercent: 0, fitPercent: 1, curve });
    expect(predicted).to.deep.equal(stepCurves(step([-1, 0, 1], [-1, 1, 1])).measured);
  });

  it('have a warning if they had not settled, or not at the setpoint', () => {
    const captured = step([0, 1, 2], [0, 2, 2]);
    const withEnd = (end: 'settled' | 'moving' | 'off') => caveatOf({ ...captured, figures: { end } });
    expect(withEnd('moving')).to.equal('Still moving after 0.3 s: the period is too short for this loop.');
    expect(withEnd('off')).to.match(/not at its setpoint/);
    expect(withEnd('settled')).to.equal(undefined);
  });
});
