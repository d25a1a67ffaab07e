import { clamped } from './angles.js';
import { discretize } from './discretize.js';

/** SI units, at the shaft whose angle is reported. */
export interface MotorParameters {
  readonly inertiaKgM2: number;
  readonly viscousNmS: number;
  /** Friction that does not depend on speed; it also holds the shaft at rest up to this torque. */
  readonly coulombNm: number;
  /** Torque constant and back-EMF constant, the same number in SI. */
  readonly torqueNmA: number;
  readonly resistanceOhm: number;
  /** If 0, the current follows the voltage at once. */
  readonly inductanceH: number;
  /** Largest voltage in either direction. */
  readonly supplyV: number;
}

export interface MotorState {
  readonly angleRad: number;
  readonly rateRadS: number;
  readonly currentA: number;
}

export interface MotorInput {
  readonly voltageV: number;
  /** Torque that acts on the shaft from outside. */
  readonly loadNm: number;
  /** The bridge is off: no current flows, and `voltageV` has no effect. */
  readonly open: boolean;
}

export const AT_REST: MotorState = { angleRad: 0, rateRadS: 0, currentA: 0 };

/** Factors of rate, current, voltage and torque. */
type Row = readonly [rate: number, current: number, voltage: number, torque: number];

/** The change of the angle in a step, and the new rate and current. */
interface Factors {
  readonly angle: Row;
  readonly rate: Row;
  readonly current: Row;
}

function factors(motor: MotorParameters, open: boolean, dtS: number): Factors {
  const { inertiaKgM2: j, viscousNmS: b, resistanceOhm: r, inductanceH: l } = motor;
  const k = open ? 0 : motor.torqueNmA;
  // The states are angle, rate and current. The inputs are voltage and torque.
  if (!open && l > 0) {
    const turning = [0, -b / j, k / j, 0, 1 / j];
    const flowing = [0, -k / l, -r / l, 1 / l, 0];
    const rows = discretize([[0, 1, 0, 0, 0], turning, flowing], dtS);
    const [angle, rate, current] = rows.map(([, w = 0, i = 0, v = 0, t = 0]): Row => [w, i, v, t]);
    if (angle === undefined || rate === undefined || current === undefined) throw new RangeError('rows');
    return { angle, rate, current };
  }
  // Without inductance the current is not a state.
  const turning = [0, -(b + (k * k) / r) / j, k / r / j, 1 / j];
  const [angle, rate] = discretize([[0, 1, 0, 0], turning], dtS).map(
    ([, w = 0, v = 0, t = 0]): Row => [w, 0, v, t],
  );
  if (angle === undefined || rate === undefined) throw new RangeError('rows');
  const [w, , v, t] = rate;
  return { angle, rate, current: open ? [0, 0, 0, 0] : [(-k * w) / r, 0, (1 - k * v) / r, (-k * t) / r] };
}

/**
 * A DC motor. The linear part, inductance included, is integrated exactly for a voltage and a load held over the
 * step, so its step size does not matter. Coulomb friction is the torque that brings the shaft to rest by the end of the
 * step, up to its limit. It never drives, and a shaft at rest stays at rest.
 */
export class DcMotor {
  readonly parameters: MotorParameters;
  #dtS = 0;
  #driven: Factors;
  #open: Factors;

  constructor(parameters: MotorParameters) {
    this.parameters = parameters;
    this.#driven = factors(parameters, false, 0);
    this.#open = factors(parameters, true, 0);
  }

  /** Has no side effects. The factors of the last step size are cached. */
  step(state: MotorState, input: MotorInput, dtS: number): MotorState {
    const { angle, rate, current } = this.#factors(input.open, dtS);
    const { rateRadS: w, currentA: i } = state;
    const supply = this.parameters.supplyV;
    const v = clamped(input.voltageV, -supply, supply);
    const gliding = rate[0] * w + rate[1] * i + rate[2] * v + rate[3] * input.loadNm;
    const coulomb = this.parameters.coulombNm;
    const stopping = gliding / rate[3];
    const held = Math.abs(stopping) <= coulomb;
    const t = input.loadNm - (held ? stopping : Math.sign(stopping) * coulomb);
    return {
      angleRad: state.angleRad + angle[0] * w + angle[1] * i + angle[2] * v + angle[3] * t,
      rateRadS: held ? 0 : rate[0] * w + rate[1] * i + rate[2] * v + rate[3] * t,
      currentA: current[0] * w + current[1] * i + current[2] * v + current[3] * t,
    };
  }

  /** `state` as it would be if `torqueNm` more had acted during the step that led to it. */
  pushed(state: MotorState, torqueNm: number, open: boolean, dtS: number): MotorState {
    const { angle, rate, current } = this.#factors(open, dtS);
    return {
      angleRad: state.angleRad + angle[3] * torqueNm,
      rateRadS: state.rateRadS + rate[3] * torqueNm,
      currentA: state.currentA + current[3] * torqueNm,
    };
  }

  /** Change of the rate over a step for each Nm held during it. */
  rateGain(open: boolean, dtS: number): number {
    return this.#factors(open, dtS).rate[3];
  }

  #factors(open: boolean, dtS: number): Factors {
    if (dtS !== this.#dtS) {
      this.#driven = factors(this.parameters, false, dtS);
      this.#open = factors(this.parameters, true, dtS);
      this.#dtS = dtS;
    }
    return open ? this.#open : this.#driven;
  }
}

/** The motor behind a rigid gear of `ratio` to 1, with its load, as an equivalent motor at the output shaft. */
export function geared(
  motor: MotorParameters,
  ratio: number,
  load: { readonly inertiaKgM2: number; readonly viscousNmS: number; readonly coulombNm: number },
): MotorParameters {
  return {
    ...motor,
    inertiaKgM2: motor.inertiaKgM2 * ratio ** 2 + load.inertiaKgM2,
    viscousNmS: motor.viscousNmS * ratio ** 2 + load.viscousNmS,
    coulombNm: motor.coulombNm * ratio + load.coulombNm,
    torqueNmA: motor.torqueNmA * ratio,
  };
}

/** The angle as an encoder with this many counts per turn shows it. */
export function encoded(angleRad: number, countsPerTurn: number): number {
  const countRad = (2 * Math.PI) / countsPerTurn;
  return Math.floor(angleRad / countRad) * countRad;
}
