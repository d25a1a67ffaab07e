import { expect } from 'chai';
import { type StepTrial, stepResponse } from '../../scripts/step/step-response.js';
import type { StepFigures } from '../../src/schemas/step.js';
import { POSITION_MOTOR, SPEED_MOTOR } from '../support/course-motors.js';

function trial(change: Partial<StepTrial> = {}): StepTrial {
  return {
    motor: POSITION_MOTOR,
    loop: 'position',
    gains: { kp: 21, ki: 500, kd: 0.15 },
    rateHz: 200_000,
    delaySamples: 0,
    derivative: 'error',
    filterS: 0,
    seconds: 0.8,
    size: 1,
    disturbanceV: 0,
    substeps: 1,
    ...change,
  };
}

const figuresOf = (change: Partial<StepTrial>) => stepResponse(trial(change)).figures;

describe('step response of a motor', () => {
  // Kp, Ki, Kd, overshoot %, settling s, rise s, peak time s: the exact solution of the published example.
  for (const [kp, ki, kd, overshoot, settling, rise, peak] of [
    [1, 0, 0, 7.16, 0.1303, 0.0426, 0.089],
    [11, 0, 0, 53.77, 0.1298, 0.0078, 0.021],
    [21, 0, 0, 64.09, 0.1242, 0.0054, 0.015],
    [21, 500, 0, 79.71, 0.2143, 0.0051, 0.0151],
    [21, 500, 0.05, 39.06, 0.0537, 0.0055, 0.0137],
    [21, 500, 0.15, 12.12, 0.0338, 0.0046, 0.0123],
    [21, 500, 0.25, 4.31, 0.0435, 0.0037, 0.0131],
  ] as const) {
    it(`is the published one at 200 kHz for ${kp}, ${ki}, ${kd}`, () => {
      const figures = figuresOf({ gains: { kp, ki, kd } });
      expect(figures.overshootPercent).closeTo(overshoot, 0.5);
      expect(figures.settlingS).closeTo(settling, 0.05 * settling);
      expect(figures.riseS).closeTo(rise, 0.05 * rise);
      expect(figures.peakTimeS).closeTo(peak, 0.05 * peak);
      expect(figures.steadyError).closeTo(0, 1e-6);
    });
  }

  for (const [rateHz, overshoot] of [
    [10_000, 12.3],
    [2000, 13.3],
    [1000, 15.8],
    [500, 41.4],
  ] as const) {
    it(`overshoots by ${overshoot} % when the loop runs at ${rateHz} Hz`, () => {
      const figures = figuresOf({ rateHz, substeps: 200_000 / rateHz });
      expect(figures.overshootPercent).closeTo(overshoot, 0.1);
    });
  }

  it('diverges at 500 Hz with one sample of delay', () => {
    const stable = trial({ rateHz: 500, substeps: 100 });
    expect(stepResponse(stable).diverged).equal(false);
    const { diverged, figures } = stepResponse({ ...stable, delaySamples: 1 });
    expect(diverged).equal(true);
    expect(figures.overshootPercent).equal(null);
  });

  it('is slower without a kick when the derivative is that of the measured value', () => {
    const figures = figuresOf({ derivative: 'measurement' });
    expect(figures.overshootPercent).closeTo(16.1, 0.1);
    expect(figures.settlingS).closeTo(0.099, 0.001);
  });

  it('leaves 1/Kp of a load disturbance, and nothing with an integrator', () => {
    const load = { size: 0, disturbanceV: 1 };
    expect(figuresOf({ ...load, gains: { kp: 21, ki: 0, kd: 0 } }).steadyError).closeTo(-1 / 21, 1e-4);
    expect(figuresOf({ ...load, gains: { kp: 4, ki: 0, kd: 0 } }).steadyError).closeTo(-1 / 4, 1e-4);
    expect(figuresOf(load).steadyError).closeTo(0, 1e-4);
  });

  it('to a plain volt is the published speed', () => {
    const figures = figuresOf({
      motor: SPEED_MOTOR,
      loop: 'speed',
      gains: 'open-loop',
      rateHz: 1000,
      seconds: 5,
    });
    expect(figures.settlingS).closeTo(2.07, 0.01 * 2.07);
    expect(figures.finalValue).closeTo(0.0999, 0.005 * 0.0999);
  });

  it('hardly changes when the integration step is halved at the same loop rate', () => {
    const change = { ...trial({ rateHz: 1000 }), motor: { ...POSITION_MOTOR, coulombNm: 1e-4, supplyV: 12 } };
    const coarse = stepResponse({ ...change, substeps: 50 }).figures;
    const fine = stepResponse({ ...change, substeps: 100 }).figures;
    expect(coarse.overshootPercent).closeTo(fine.overshootPercent!, 0.3);
    for (const name of ['riseS', 'settlingS', 'peakTimeS'] satisfies (keyof StepFigures)[]) {
      expect(coarse[name], name).closeTo(fine[name]!, 0.02 * fine[name]!);
    }
  });

  it('is slower with a low supply voltage', () => {
    const limited = figuresOf({ motor: { ...POSITION_MOTOR, supplyV: 2 } });
    expect(limited.riseS).above(2 * figuresOf({}).riseS!);
  });
});
