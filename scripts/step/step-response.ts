import { Pid } from '../../sim/loops/pid.js';
import { AT_REST, DcMotor, type MotorParameters, type MotorState } from '../../sim/physics/dc-motor.js';
import type { Gains } from '../../src/core/units.js';
import type { StepFigures } from '../../src/schemas/step.js';
import { stepFigures } from '../../src/tuning/step-figures.js';

type MotorLoop = 'position' | 'speed';

export interface MotorStep {
  readonly motor: MotorParameters;
  readonly loop: MotorLoop;
  /** In an open loop, the step is in volts. */
  readonly gains: Gains | 'open-loop';
  readonly rateHz: number;
  /** Loop periods between a sample and the voltage computed from it. */
  readonly delaySamples: number;
  readonly derivative: 'error' | 'measurement';
  readonly filterS: number;
  readonly seconds: number;
  /** Size of the step, in rad, rad/s, or V in an open loop. */
  readonly size: number;
  /** Volts that are added to the controller's voltage, from the step on. */
  readonly disturbanceV: number;
  /** Integration steps in a loop period. */
  readonly substeps: number;
}

export interface StepResponse {
  readonly periodS: number;
  /** One sample for each integration step, from the step on. Ends early if the response diverges. */
  readonly measured: Float64Array;
  readonly diverged: boolean;
  /** All null if the response diverged. */
  readonly figures: StepFigures;
}

/** A response counts as diverged if it is this many times as large as the step or the disturbance. */
const DIVERGED = 1e6;

/** Simulates a step of the setpoint, from rest at 0. */
export function stepResponse(step: MotorStep): StepResponse {
  const { loop, gains, substeps, size, disturbanceV } = step;
  const motor = new DcMotor(step.motor);
  const limit = step.motor.supplyV;
  const periodS = 1 / step.rateHz;
  const { derivative, filterS } = step;
  const pid = new Pid({ periodS, derivative, filterS, min: -limit, max: limit });
  if (gains !== 'open-loop') pid.update(0, 0, gains);
  const late = new Float64Array(step.delaySamples + 1);
  const ticks = Math.ceil(step.seconds * step.rateHz);
  const measured = new Float64Array(ticks * substeps + 1);
  const bound = DIVERGED * Math.max(Math.abs(size), Math.abs(disturbanceV));
  const dtS = periodS / substeps;
  let state: MotorState = AT_REST;
  let index = 0;
  let lost = false;
  for (let tick = 0; tick < ticks && !lost; tick += 1) {
    const value = measured[index] ?? 0;
    late[tick % late.length] = gains === 'open-loop' ? size : pid.update(size, value, gains);
    const voltageV = (late[(tick + 1) % late.length] ?? 0) + disturbanceV;
    for (let part = 0; part < substeps; part += 1) {
      state = motor.step(state, { voltageV, loadNm: 0, open: false }, dtS);
      index += 1;
      measured[index] = loop === 'position' ? state.angleRad : state.rateRadS;
    }
    lost = !(Math.abs(measured[index] ?? 0) <= bound);
  }
  const seen = measured.subarray(0, index + 1);
  const diverged = lost || (gains !== 'open-loop' && grows(seen, size));
  const setpoint = gains === 'open-loop' ? {} : { setpoint: size };
  const figures = stepFigures({ measured: diverged ? [] : seen, periodS: dtS, ...setpoint });
  return { periodS: dtS, measured: seen, diverged, figures };
}

/** True if the error in the last quarter is larger than the step, and larger than in the quarter before. */
function grows(measured: Float64Array, setpoint: number): boolean {
  const quarter = Math.floor(measured.length / 4);
  const worst = (from: number, to: number) =>
    measured.subarray(from, to).reduce((most, value) => Math.max(most, Math.abs(setpoint - value)), 0);
  const end = worst(measured.length - quarter, measured.length);
  return (
    end > Math.abs(setpoint) && end > 1.05 * worst(measured.length - 2 * quarter, measured.length - quarter)
  );
}
