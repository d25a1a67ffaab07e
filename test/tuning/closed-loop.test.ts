import { expect } from 'chai';
import { Pid } from '../../sim/loops/pid.js';
import { simulate } from '../../src/tuning/closed-loop.js';
import type { LoopShape, Plant } from '../../src/tuning/plant.js';

const SHAPE: LoopShape = {
  plant: 'servo',
  sign: 1,
  outputLimits: { min: -24, max: 24 },
  derivativeFilterS: 0.002,
  periodS: 0.001,
  bounds: {},
};
const PLANT: Plant = {
  gain: 10,
  tauS: 0.2,
  delayS: 0,
  friction: 0,
  offset: 0,
  sensorS: 0,
  steepest: Number.POSITIVE_INFINITY,
};

/** The loop at the beginning. */
const from = { measured: 0, output: 0, setpoint: 0 };

/** The measured values and the outputs that the simulated firmware's PID gives with the same plant. */
function byFirmware(gains: { kp: number; ki: number; kd: number }, setpoints: number[], ticksEach: number) {
  const { min, max } = SHAPE.outputLimits;
  const pid = new Pid({ periodS: 0.001, derivative: 'measurement', filterS: 0.002, min, max });
  pid.update(0, 0, gains);
  const decay = Math.exp(-0.001 / PLANT.tauS);
  let [y, v] = [0, 0];
  return setpoints.flatMap(setpoint =>
    Array.from({ length: ticksEach }, () => {
      const shown = y;
      const output = pid.update(setpoint, y, gains);
      const before = v;
      v = v * decay + PLANT.gain * PLANT.tauS * (1 - decay) * output;
      y += ((before + v) / 2) * 0.001;
      return { shown, output };
    }),
  );
}

describe('the predicted response of a control loop', () => {
  for (const [kp, ki, kd, where] of [
    [300, 300, 7.5, 'even at'],
    [900, 20_000, 5, 'even at'],
    [30, 0, 0, 'within'],
  ] as const) {
    it(`equals the response in the simulated firmware if the output ${where === 'even at' ? 'reaches' : 'stays within'} its limits (kp ${kp}, ki ${ki}, kd ${kd})`, () => {
      const setpoints = [0.15, -0.15, 0.15];
      const measured = simulate(PLANT, SHAPE, { kp, ki, kd }, { setpoints, ticksEach: 300, from });
      const expected = byFirmware({ kp, ki, kd }, setpoints, 300);
      expected.forEach(({ shown }, tick) => {
        expect(measured?.[tick]).closeTo(shown, 1e-9);
      });
      for (const limit of Object.values(SHAPE.outputLimits))
        expect(expected.some(({ output }) => output === limit)).equal(where === 'even at');
    });
  }

  it('stays at 0 if the output is too weak to overcome friction', () => {
    const plant = { ...PLANT, friction: 5, offset: 2 };
    const course = { setpoints: [0.2], ticksEach: 200, from };
    const measured = simulate(plant, SHAPE, { kp: 30, ki: 0, kd: 0 }, course);
    expect(measured?.every(value => value === 0)).equal(true);
  });

  it('begins only after the delay time of the motor model', () => {
    const plant = { ...PLANT, delayS: 0.02 };
    const course = { setpoints: [0.2], ticksEach: 100, from };
    const measured = simulate(plant, SHAPE, { kp: 30, ki: 0, kd: 0 }, course);
    expect(measured?.[20]).equal(0);
    expect(measured?.[22]).above(0);
  });

  it('is undefined if a negative gain makes the measured value run away', () => {
    const course = { setpoints: [0.2], ticksEach: 2000, from };
    expect(simulate(PLANT, SHAPE, { kp: -30, ki: 0, kd: 0 }, course, 5)).equal(undefined);
  });
});
