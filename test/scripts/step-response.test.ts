import { expect } from 'chai';
import { type MotorStep, stepResponse } from '../../scripts/step/step-response.js';
import { POSITION_MOTOR, SPEED_MOTOR } from '../support/course-motors.js';

function step(change: Partial<MotorStep> = {}): MotorStep {
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

const figuresOf = (change: Partial<MotorStep>) => stepResponse(step(change)).figures;

describe('the computed step response of a motor', () => {
  // Kp, Ki, Kd, overshoot %, settling s, rise s, peak time s: the exact solution of the published example.
  for (const [kp, ki, kd, overshoot, settling, rise, peak] of [
    [1, 0, 0, 7.16, 0.1303, 0.0426, 0.089],
    [11, 0, 0, 53.77, 0.1298, 0.0078, 0.021],
    [21, 0, 0, 64.09, 0.1242, 0.0054, 0.015],
    [21, 500, 0, 79.71, 0.2143, 0.0051, 0.0151],
    [21, 500, 0.05, 39.06, 0.0537, 0.0055, 0.0137],
    [21, 500, 0.15, 12.12, 0.0338, 0.0046, 0.0123],
    [21, 500, 0.25, 4.31, 0.0435, 0.0037, 0.0131],
  ] as const)
    it(`has the overshoot and the rise, peak and settling times of a published example with kp ${kp}, ki ${ki}, kd ${kd}`, () => {
      const { overshootPercent, settlingS, riseS, peakTimeS, steadyError } = figuresOf({
        gains: { kp, ki, kd },
      });
      expect(overshootPercent).closeTo(overshoot, 0.5);
      for (const [found, published] of [
        [settlingS, settling],
        [riseS, rise],
        [peakTimeS, peak],
      ] as const)
        expect(found).closeTo(published, 0.05 * published);
      expect(steadyError).closeTo(0, 1e-6);
    });

  it('overshoots more if the loop rate is halved to 500 Hz, and diverges if each output then also comes one period late', () => {
    const overshoot = (rateHz: number) => figuresOf({ rateHz, substeps: 200_000 / rateHz }).overshootPercent;
    expect(overshoot(1000)).closeTo(15.8, 0.1);
    expect(overshoot(500)).closeTo(41.4, 0.1);
    const { diverged, figures } = stepResponse(step({ rateHz: 500, substeps: 100, delaySamples: 1 }));
    expect([diverged, figures.overshootPercent]).deep.equal([true, null]);
  });

  it('settles later if the derivative is taken of the measured value instead of the error', () => {
    const figures = figuresOf({ derivative: 'measurement' });
    expect(figures.overshootPercent).closeTo(16.1, 0.1);
    expect(figures.settlingS).closeTo(0.099, 0.001);
  });

  it('has a steady error under a constant load if ki is 0, but none if ki is greater than 0', () => {
    const load = { size: 0, disturbanceV: 1 };
    expect(figuresOf({ ...load, gains: { kp: 21, ki: 0, kd: 0 } }).steadyError).closeTo(-1 / 21, 1e-4);
    expect(figuresOf(load).steadyError).closeTo(0, 1e-4);
  });

  it('has the settling time and the final speed of a published example if 1 V is applied without a controller (open loop)', () => {
    const speed = {
      motor: SPEED_MOTOR,
      loop: 'speed',
      gains: 'open-loop',
      rateHz: 1000,
      seconds: 5,
    } as const;
    const figures = figuresOf(speed);
    expect(figures.settlingS).closeTo(2.07, 0.01 * 2.07);
    expect(figures.finalValue).closeTo(0.0999, 0.005 * 0.0999);
  });

  it('takes more than twice as long to rise with a supply of 2 V as with an unlimited voltage', () => {
    const limited = figuresOf({ motor: { ...POSITION_MOTOR, supplyV: 2 } });
    expect(limited.riseS).above(2 * figuresOf({}).riseS!);
  });
});
