import { expect } from 'chai';
import { wheelUnderLoad } from '../../../scripts/step/wheel-under-load.js';
import { AT_REST, DcMotor, type MotorInput, type MotorState } from '../../../sim/physics/dc-motor.js';
import { ROBOT } from '../../../sim/physics/robot-body.js';

const IDLE: MotorInput = { voltageV: 0, loadNm: 0, open: false };
const motors = { ...ROBOT.motors, 'wheel under half of the robot': wheelUnderLoad() };

function driven(motor: DcMotor, state: MotorState, input: MotorInput, seconds: number, dtS: number) {
  let now = state;
  for (let step = 0; step < Math.round(seconds / dtS); step += 1) now = motor.step(now, input, dtS);
  return now;
}

describe('the simulated DC motor', () => {
  for (const [name, parameters] of Object.entries(motors)) {
    const motor = new DcMotor(parameters);

    it(`(${name}) moves the same in one step of 10 ms as in 1000 steps of 10 µs, and reaches the calculated final speed`, () => {
      const frictionless = new DcMotor({ ...parameters, coulombNm: 0 });
      const input = { voltageV: 10, loadNm: 0.05, open: false };
      const once = frictionless.step(AT_REST, input, 0.01);
      const often = driven(frictionless, AT_REST, input, 0.01, 1e-5);
      for (const part of ['angleRad', 'rateRadS', 'currentA'] as const)
        expect(once[part]).closeTo(often[part], 1e-9);
      const { torqueNmA: k, resistanceOhm: r, viscousNmS: b, coulombNm } = parameters;
      const { rateRadS } = driven(motor, AT_REST, { ...IDLE, voltageV: 12 }, 20, 0.001);
      expect(rateRadS).closeTo((k * 12 - r * coulombNm) / (r * b + k * k), 1e-6);
    });

    it(`(${name}) stays still under a load below its friction, and moves under a load above its friction`, () => {
      const pulled = (loadNm: number) => driven(motor, AT_REST, { ...IDLE, loadNm, open: true }, 1, 0.001);
      expect(pulled(0.99 * parameters.coulombNm).angleRad).closeTo(0, 1e-12);
      expect(pulled(1.01 * parameters.coulombNm).angleRad).above(1e-4);
      expect(pulled(-1.01 * parameters.coulombNm).angleRad).below(-1e-4);
    });
  }

  it('gets at most the supply voltage, and no current at all while its motor bridge is open', () => {
    const motor = new DcMotor(motors.yaw);
    const most = motor.step(AT_REST, { ...IDLE, voltageV: 1e30 }, 0.001);
    expect(most).deep.equal(motor.step(AT_REST, { ...IDLE, voltageV: 24 }, 0.001));
    const moving = { angleRad: 0, rateRadS: 9, currentA: 3 };
    expect(motor.step(moving, { ...IDLE, open: true }, 0.001).currentA).equal(0);
  });

  it('moves the same way with an inductance of 1 nH as with no inductance', () => {
    const [a, b] = [0, 1e-9].map(inductanceH => {
      const motor = new DcMotor({ ...motors.yaw, inductanceH });
      return driven(motor, AT_REST, { ...IDLE, voltageV: 5 }, 0.1, 0.001);
    });
    expect(a!.rateRadS).closeTo(b!.rateRadS, 1e-6);
    expect(a!.currentA).closeTo(b!.currentA, 1e-6);
  });
});
