import { expect } from 'chai';
import { stepResponse } from '../../scripts/step/step-response.js';
import type { Gains } from '../../src/core/units.js';
import { design } from '../../src/tuning/design.js';
import { peakSensitivity } from '../../src/tuning/evaluation.js';
import type { ExcitedRun } from '../../src/tuning/excited-run.js';
import { fitPlant } from '../../src/tuning/fit.js';
import type { LoopShape } from '../../src/tuning/plant.js';
import { POSITION_MOTOR, SPEED_MOTOR } from '../support/course-motors.js';

/** The course's motors with a limited supply, so that the design has a limit to keep. */
const POSITION_LIMITED = { ...POSITION_MOTOR, supplyV: 100 };
const SPEED_LIMITED = { ...SPEED_MOTOR, supplyV: 200 };

const PERIOD_S = 0.001;
const SUBSTEPS = 20;

function shapeOf(loop: 'position' | 'speed', limit: number, derivativeFilterS: number): LoopShape {
  return {
    plant: loop === 'position' ? 'servo' : 'lag',
    sign: 1,
    outputLimits: { min: -limit, max: limit },
    derivativeFilterS,
    periodS: PERIOD_S,
  };
}

function trial(loop: 'position' | 'speed', gains: Gains, seconds: number, filterS: number) {
  return stepResponse({
    motor: loop === 'position' ? POSITION_LIMITED : SPEED_LIMITED,
    loop,
    gains,
    rateHz: 1 / PERIOD_S,
    delaySamples: 0,
    derivative: 'measurement',
    filterS,
    seconds,
    size: 1,
    disturbanceV: 0,
    substeps: SUBSTEPS,
  });
}

/** One step from rest as a controller records it, every `decimation` loop periods. */
function recorded(
  loop: 'position' | 'speed',
  gains: Gains,
  seconds: number,
  decimation: number,
  filterS: number,
): ExcitedRun {
  const response = trial(loop, gains, seconds, filterS);
  const halfTicks = Math.round(seconds / PERIOD_S);
  const measured = [0];
  for (let tick = decimation - 1; tick < halfTicks; tick += decimation) {
    measured.push(response.measured[tick * SUBSTEPS]!);
  }
  return { gains, halfTicks, decimation, output: 0, halves: [{ from: 0, to: 1, measured }] };
}

describe('the fit', () => {
  it('finds the published position motor from one lazy step: time constant and gain within 5 %', () => {
    const { inertiaKgM2: j, viscousNmS: b, torqueNmA: k, resistanceOhm: r } = POSITION_LIMITED;
    const shape = shapeOf('position', POSITION_LIMITED.supplyV, 0.001);
    const { plant, errorPercent } = fitPlant(shape, [
      recorded('position', { kp: 3, ki: 0, kd: 0 }, 0.25, 1, 0.001),
    ]);
    const tauS = (j * r) / (k * k + b * r);
    expect(plant.tauS).closeTo(tauS, 0.05 * tauS);
    expect(plant.gain).closeTo(k / (r * j), 0.05 * (k / (r * j)));
    expect(errorPercent).below(0.5);
  });

  it('finds the published speed motor: its final value within 2 %', () => {
    const shape = shapeOf('speed', SPEED_LIMITED.supplyV, 0);
    const run = recorded('speed', { kp: 20, ki: 20, kd: 0 }, 3, 12, 0);
    const { plant, errorPercent } = fitPlant(shape, [run]);
    const { viscousNmS: b, torqueNmA: k, resistanceOhm: r } = SPEED_LIMITED;
    expect(plant.gain * plant.tauS).closeTo(k / (b * r + k * k), 0.02 * (k / (b * r)));
    expect(errorPercent).below(1);
  });
});

describe('the design', () => {
  const designed = (
    loop: 'position' | 'speed',
    gains: Gains,
    seconds: number,
    decimation: number,
    filterS: number,
  ) => {
    const run = recorded(loop, gains, seconds, decimation, filterS);
    const limit = loop === 'position' ? POSITION_LIMITED.supplyV : SPEED_LIMITED.supplyV;
    const shape = shapeOf(loop, limit, filterS);
    const { plant } = fitPlant(shape, [run]);
    const horizon = { size: 1, seconds, output: 0 };
    const { best } = design({
      shape,
      plant,
      horizon,
      gains,
      sigma: 0,
      sampleS: decimation * PERIOD_S,
      style: loop === 'position' ? 'brisk' : 'normal',
    });
    return trial(loop, best.gains, seconds, filterS).figures;
  };

  it('meets what is demanded of the published speed motor', () => {
    const figures = designed('speed', { kp: 20, ki: 20, kd: 0 }, 3, 12, 0);
    expect(figures.overshootPercent).below(5);
    expect(figures.settlingS).below(2);
    expect(Math.abs(figures.steadyError!)).below(0.01);
  });

  it('meets what is demanded of the published position motor', () => {
    const figures = designed('position', { kp: 3, ki: 0, kd: 0 }, 0.25, 1, 0.001);
    expect(figures.overshootPercent).below(16);
    expect(figures.settlingS).below(0.04);
  });
});

describe('the peak of the sensitivity', () => {
  const lag: LoopShape = {
    plant: 'lag',
    sign: 1,
    outputLimits: { min: -1, max: 1 },
    derivativeFilterS: 0,
    periodS: 1e-4,
  };
  const plant = { gain: 1, tauS: 1, delayS: 0.1, friction: 0, offset: 0, sensorS: 0, steepest: 1e9 };

  it('is the 1.59 that is published for SIMC on a late lag', () => {
    // tc = theta: Kc = tau / (k 2 theta), tI = min(tau, 8 theta) = 0.8.
    expect(peakSensitivity(plant, lag, { kp: 5, ki: 5 / 0.8, kd: 0 })).closeTo(1.6, 0.1);
  });

  it('grows without bound towards the gain at which the loop swings', () => {
    expect(peakSensitivity(plant, lag, { kp: 15.9, ki: 0, kd: 0 })).above(5);
  });
});
