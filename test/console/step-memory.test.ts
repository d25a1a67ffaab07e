import { expect } from 'chai';
import type { Step } from '../../src/console/daemon/robot-state.js';
import { overlay, rememberStep, stepCurve } from '../../src/console/model/step-memory.js';
import { stepFigures } from '../../src/core/step-figures.js';

const figures = stepFigures({ measured: [0, 1], periodS: 0.1, setpoint: 1 });
const step = (number: number, measured: number[], setpoint: number[], periodS = 0.1): Step => ({
  unit: 'gimbal',
  loop: 'angle_yaw',
  number,
  rateHz: 1000,
  decimation: 1,
  periodS,
  samples: { measured, setpoint },
  figures,
});
const some = step(1, [0, 1], [1, 1]);
const old = { kp: 1, ki: 0, kd: 0 };
const fresh = { kp: 2, ki: 0, kd: 0 };

describe('remembered steps', () => {
  it('keep the newest of these gains and the newest of the gains before', () => {
    let pair = rememberStep(undefined, { step: some, gains: old, revision: 1 });
    pair = rememberStep(pair, { step: { ...some, number: 2 }, gains: old, revision: 1 });
    expect(pair.previous).to.equal(undefined);
    pair = rememberStep(pair, { step: { ...some, number: 3 }, gains: fresh, revision: 1 });
    pair = rememberStep(pair, { step: { ...some, number: 4 }, gains: fresh, revision: 1 });
    expect([pair.current.step.number, pair.previous?.step.number]).to.deep.equal([4, 2]);
  });

  it('lie on one another, up or down, from the old setpoint to the new one', () => {
    const up = stepCurve(step(1, [1.5, 2, 3], [1, 3, 3]));
    const down = stepCurve(step(2, [4.5, 4, 3], [5, 3, 3]));
    expect(down).to.deep.equal(up);
    expect(up.measured).to.deep.equal([0.5, 1, 2]);
    expect(up.setpoint).to.deep.equal([0, 2, 2]);
  });

  it('share one time axis', () => {
    const [t, setpoint, measured, under] = overlay(
      stepCurve(step(1, [0, 1, 2], [0, 2, 2], 0.1)),
      stepCurve(step(2, [0, 2], [0, 2], 0.15)),
    );
    expect(t).to.deep.equal([0, 0.1, 0.15, 0.2]);
    expect([setpoint[1], measured[1], under[1]]).to.deep.equal([2, 1, undefined]);
    expect(under[2]).to.equal(2);
  });
});
