import { expect } from 'chai';
import { wheelUnderLoad } from '../../../scripts/step/wheel-under-load.js';
import {
  AT_REST,
  DcMotor,
  encoded,
  geared,
  type MotorInput,
  type MotorState,
} from '../../../sim/physics/dc-motor.js';
import { ROBOT } from '../../../sim/physics/robot-body.js';

const IDLE: MotorInput = { voltageV: 0, loadNm: 0, open: false };
const motors = { ...ROBOT.motors, wheelUnderLoad: wheelUnderLoad() };

function driven(motor: DcMotor, state: MotorState, input: MotorInput, seconds: number, dtS: number) {
  let now = state;
  for (let step = 0; step < Math.round(seconds / dtS); step += 1) now = motor.step(now, input, dtS);
  return now;
}

describe('DC motor', () => {
  for (const [name, parameters] of Object.entries(motors)) {
    const motor = new DcMotor(parameters);
    const frictionless = new DcMotor({ ...parameters, coulombNm: 0 });

    it(`${name} reaches the same state in one step as in many`, () => {
      const input = { voltageV: 10, loadNm: 0.05, open: false };
      const once = frictionless.step(AT_REST, input, 0.01);
      const often = driven(frictionless, AT_REST, input, 0.01, 1e-5);
      expect(once.angleRad).closeTo(often.angleRad, 1e-9);
      expect(once.rateRadS).closeTo(often.rateRadS, 1e-9);
      expect(once.currentA).closeTo(often.currentA, 1e-9);
    });

    it(`${name} turns as fast as torque and friction balance`, () => {
      const { torqueNmA: k, resistanceOhm: r, viscousNmS: b, coulombNm } = parameters;
      const { rateRadS } = driven(motor, AT_REST, { ...IDLE, voltageV: 12 }, 20, 0.001);
      expect(rateRadS).closeTo((k * 12 - r * coulombNm) / (r * b + k * k), 1e-6);
    });

    for (const open of [false, true]) {
      it(`${name} loses energy and comes to rest, bridge ${open ? 'open' : 'shorted'}`, () => {
        const energy = ({ rateRadS, currentA }: MotorState) =>
          parameters.inertiaKgM2 * rateRadS ** 2 + parameters.inductanceH * currentA ** 2;
        let state: MotorState = { angleRad: 1, rateRadS: 30, currentA: 0 };
        for (let step = 0; step < 20_000; step += 1) {
          const next = motor.step(state, { ...IDLE, open }, 0.001);
          expect(energy(next)).at.most(energy(state));
          state = next;
        }
        expect(state.rateRadS).closeTo(0, 1e-12);
        expect(state.currentA).closeTo(0, 1e-12);
      });
    }

    it(`${name} is held by friction against what is less, and not against more`, () => {
      const pulled = (loadNm: number) => driven(motor, AT_REST, { ...IDLE, loadNm, open: true }, 1, 0.001);
      expect(pulled(0.99 * parameters.coulombNm).angleRad).closeTo(0, 1e-12);
      expect(pulled(1.01 * parameters.coulombNm).angleRad).above(1e-4);
      expect(pulled(-1.01 * parameters.coulombNm).angleRad).below(-1e-4);
    });
  }

  it('never sees more than the supply, and carries no current with the bridge open', () => {
    const motor = new DcMotor(motors.yaw);
    const most = motor.step(AT_REST, { ...IDLE, voltageV: 1e30 }, 0.001);
    expect(most).deep.equal(motor.step(AT_REST, { ...IDLE, voltageV: 24 }, 0.001));
    const moving = { angleRad: 0, rateRadS: 9, currentA: 3 };
    expect(motor.step(moving, { ...IDLE, open: true }, 0.001).currentA).equal(0);
  });

  it('behaves alike with hardly any inductance and with none', () => {
    const none = new DcMotor({ ...motors.yaw, inductanceH: 0 });
    const hardly = new DcMotor({ ...motors.yaw, inductanceH: 1e-9 });
    const input = { ...IDLE, voltageV: 5 };
    const [a, b] = [none, hardly].map(motor => driven(motor, AT_REST, input, 0.1, 0.001));
    expect(a!.rateRadS).closeTo(b!.rateRadS, 1e-6);
    expect(a!.currentA).closeTo(b!.currentA, 1e-6);
  });

  it('behind a gear is slower and stronger', () => {
    const load = { inertiaKgM2: 0.5, viscousNmS: 0.25, coulombNm: 0.125 };
    const bare = { ...motors.yaw, inertiaKgM2: 1, viscousNmS: 2, coulombNm: 3, torqueNmA: 4 };
    expect(geared(bare, 10, load)).include({
      inertiaKgM2: 100.5,
      viscousNmS: 200.25,
      coulombNm: 30.125,
      torqueNmA: 40,
    });
  });

  it('is read in whole counts', () => {
    expect(encoded(1, 4)).equal(0);
    expect(encoded(1.6, 4)).closeTo(Math.PI / 2, 1e-12);
    expect(encoded(-0.1, 4)).closeTo(-Math.PI / 2, 1e-12);
  });
});
