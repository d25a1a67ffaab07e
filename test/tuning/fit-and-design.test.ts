import { expect } from 'chai';
import { stepResponse } from '../../scripts/step/step-response.js';
import type { MotorParameters } from '../../sim/physics/dc-motor.js';
import type { GainBounds, Gains } from '../../src/core/units.js';
import { design } from '../../src/tuning/design.js';
import { peakSensitivity } from '../../src/tuning/evaluation.js';
import { fitPlant } from '../../src/tuning/fit.js';
import type { LoopShape } from '../../src/tuning/plant.js';
import { POSITION_MOTOR, SPEED_MOTOR } from '../support/course-motors.js';

const PERIOD_S = 0.001;
const SUBSTEPS = 20;

/** A published motor, and a step of its loop with weak gains. Its supply is limited, because the design uses the limit. */
interface Course {
  readonly loop: 'position' | 'speed';
  readonly motor: MotorParameters;
  readonly gains: Gains;
  readonly seconds: number;
  readonly decimation: number;
  readonly filterS: number;
}
const POSITION: Course = {
  loop: 'position',
  motor: { ...POSITION_MOTOR, supplyV: 100 },
  gains: { kp: 3, ki: 0, kd: 0 },
  ...{ seconds: 0.25, decimation: 1, filterS: 0.001 },
};
const SPEED: Course = {
  loop: 'speed',
  motor: { ...SPEED_MOTOR, supplyV: 200 },
  gains: { kp: 20, ki: 20, kd: 0 },
  ...{ seconds: 3, decimation: 12, filterS: 0 },
};

const shapeOf = ({ loop, motor, filterS }: Course): LoopShape => ({
  plant: loop === 'position' ? 'servo' : 'lag',
  sign: 1,
  outputLimits: { min: -motor.supplyV, max: motor.supplyV },
  derivativeFilterS: filterS,
  bounds: {},
  periodS: PERIOD_S,
});

function responseOf({ motor, loop, filterS, seconds }: Course, gains: Gains) {
  const sampling = { rateHz: 1 / PERIOD_S, delaySamples: 0, substeps: SUBSTEPS };
  const step = { seconds, size: 1, disturbanceV: 0 };
  return stepResponse({ motor, loop, gains, ...sampling, derivative: 'measurement', filterS, ...step });
}

/** The plant that is fitted to one step from rest. A controller records the step every `decimation` loop periods. */
function fitOf(course: Course) {
  const { gains, seconds, decimation } = course;
  const response = responseOf(course, gains);
  const halfTicks = Math.round(seconds / PERIOD_S);
  const measured = [0];
  for (let tick = decimation - 1; tick < halfTicks; tick += decimation) {
    measured.push(response.measured[tick * SUBSTEPS]!);
  }
  const halves = [{ from: 0, to: 1, measured }];
  return fitPlant(shapeOf(course), [{ gains, halfTicks, decimation, output: 0, halves }]);
}

describe('a motor model fitted to a step response', () => {
  it('matches the time constant and the gain of a published example motor within 5 %', () => {
    const { inertiaKgM2: j, viscousNmS: b, torqueNmA: k, resistanceOhm: r } = POSITION.motor;
    const { plant, errorPercent } = fitOf(POSITION);
    const tauS = (j * r) / (k * k + b * r);
    expect(plant.tauS).closeTo(tauS, 0.05 * tauS);
    expect(plant.gain).closeTo(k / (r * j), 0.05 * (k / (r * j)));
    expect(errorPercent).below(0.5);
  });

  it('matches the final speed of the motor in a published speed-control example within 2 %', () => {
    const { plant, errorPercent } = fitOf(SPEED);
    const { viscousNmS: b, torqueNmA: k, resistanceOhm: r } = SPEED.motor;
    expect(plant.gain * plant.tauS).closeTo(k / (b * r + k * k), 0.02 * (k / (b * r)));
    expect(errorPercent).below(1);
  });
});

describe('the design of gains', () => {
  const designed = (course: Course, style: 'brisk' | 'normal', bounds: GainBounds = {}) => {
    const { gains, seconds, decimation } = course;
    const { plant } = fitOf(course);
    const horizon = { size: 1, seconds, output: 0 };
    const sampleS = decimation * PERIOD_S;
    const shape = { ...shapeOf(course), bounds };
    const found = design({ shape, plant, horizon, gains, sigma: 0, sampleS, style });
    return { gains: found.gains, figures: responseOf(course, found.gains).figures };
  };

  it('makes the motor in a published speed-control example settle in less than 2 s with less than 5 % overshoot', () => {
    const { figures } = designed(SPEED, 'normal');
    expect(figures.overshootPercent).below(5);
    expect(figures.settlingS).below(2);
    expect(Math.abs(figures.steadyError!)).below(0.01);
  });

  it('makes a published example motor settle in less than 0.04 s with less than 16 % overshoot', () => {
    const { figures } = designed(POSITION, 'brisk');
    expect(figures.overshootPercent).below(16);
    expect(figures.settlingS).below(0.04);
  });

  it('keeps `kp`, `ki` and `kd` within the bounds set for each of them', () => {
    const { gains } = designed(POSITION, 'brisk');
    // Otherwise the bounds would not forbid these gains.
    expect(Math.min(gains.kp, gains.ki, gains.kd)).above(0);
    const bounds = { kp: { max: gains.kp / 2 }, ki: { min: 2 * gains.ki }, kd: { max: gains.kd / 2 } };
    const { gains: within } = designed(POSITION, 'brisk', bounds);
    expect(within.kp).most(bounds.kp.max);
    expect(within.ki).least(bounds.ki.min);
    expect(within.kd).most(bounds.kd.max);
  });
});

describe('the peak sensitivity of a closed loop', () => {
  const lag: LoopShape = {
    plant: 'lag',
    sign: 1,
    outputLimits: { min: -1, max: 1 },
    derivativeFilterS: 0,
    periodS: 1e-4,
    bounds: {},
  };
  const plant = { gain: 1, tauS: 1, delayS: 0.1, friction: 0, offset: 0, sensorS: 0, steepest: 1e9 };

  it('is between 1.5 and 1.7 for gains by the SIMC tuning rule, near the published value of 1.59', () => {
    // tc = theta: Kc = tau / (k 2 theta), tI = min(tau, 8 theta) = 0.8.
    expect(peakSensitivity(plant, lag, { kp: 5, ki: 5 / 0.8, kd: 0 })).closeTo(1.6, 0.1);
  });

  it('is above 5 if the gain is only a little lower than the gain at which the loop oscillates', () => {
    expect(peakSensitivity(plant, lag, { kp: 15.9, ki: 0, kd: 0 })).above(5);
  });
});
