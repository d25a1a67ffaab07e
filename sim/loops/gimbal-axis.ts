import type { GainSet } from '../../src/core/units.js';
import { clamped } from '../physics/angles.js';
import { ROBOT, SUPPLY_V } from '../physics/robot-body.js';
import type { LoopNameOf, Reading } from './loop-readings.js';
import { NO_GAINS, Pid } from './pid.js';

/** How far setpoints keep from the mechanical stops. */
const MARGIN_RAD = 0.05;

type GimbalReadings = Readonly<Record<LoopNameOf<'gimbal'>, Reading>>;

/** The two loops of one gimbal axis: the visual loop outside, whose output is the angle loop's setpoint. */
export class GimbalAxis {
  readonly visualName: LoopNameOf<'gimbal'>;
  readonly angleName: LoopNameOf<'gimbal'>;
  readonly #visualReading: Reading;
  readonly #angleReading: Reading;
  readonly #visual: Pid;
  readonly #angle: Pid;
  readonly #min: number;
  readonly #max: number;
  /** The setpoint of the angle, without the excitation. */
  #aimRad = 0;

  constructor(axis: 'yaw' | 'pitch', readings: GimbalReadings, periodS: number) {
    this.visualName = `visual_${axis}`;
    this.angleName = `angle_${axis}`;
    this.#visualReading = readings[this.visualName];
    this.#angleReading = readings[this.angleName];
    this.#min = ROBOT.gimbal[axis].minRad + MARGIN_RAD;
    this.#max = ROBOT.gimbal[axis].maxRad - MARGIN_RAD;
    const derivative = 'measurement';
    this.#visual = new Pid({ periodS, derivative, filterS: 0.03, min: this.#min, max: this.#max });
    this.#angle = new Pid({ periodS, derivative, filterS: 0.002, min: -SUPPLY_V, max: SUPPLY_V });
  }

  get aimRad(): number {
    return this.#aimRad;
  }

  aimAt(angleRad: number): void {
    this.#aimRad = clamped(angleRad, this.#min, this.#max);
  }

  /** Call this before the setpoint jumps, so that the output does not jump. */
  join(): void {
    this.#angle.join();
  }

  /** One loop period in which the axis has no torque. */
  rest(angleRad: number, offsetRad: number): void {
    this.aimAt(angleRad);
    this.#angle.follow(0, angleRad, angleRad);
    this.#watch(offsetRad);
    this.#angleReading.show(angleRad, angleRad, 0);
  }

  /** One period of an axis that holds its aim and `wave`. Returns the motor's voltage. */
  hold(angleRad: number, offsetRad: number, gains: GainSet, wave: number): number {
    this.#watch(offsetRad);
    return this.#turn(angleRad, wave, gains);
  }

  /** One period of an axis that sees the target and keeps it at `wave` from the boresight. */
  track(angleRad: number, offsetRad: number, gains: GainSet, wave: number): number {
    // The offset falls as the axis turns towards the target, so both go in with their signs reversed.
    this.#aimRad = this.#visual.update(-wave, -offsetRad, gains[this.visualName] ?? NO_GAINS);
    this.#visualReading.show(wave, offsetRad, this.#aimRad);
    return this.#turn(angleRad, 0, gains);
  }

  reset(): void {
    this.#visual.reset();
    this.#angle.reset();
  }

  #watch(offsetRad: number): void {
    this.#visual.follow(this.#aimRad, 0, -offsetRad);
    this.#visualReading.show(0, offsetRad, this.#aimRad);
  }

  #turn(angleRad: number, wave: number, gains: GainSet): number {
    const setpoint = clamped(this.#aimRad + wave, this.#min, this.#max);
    const voltage = this.#angle.update(setpoint, angleRad, gains[this.angleName] ?? NO_GAINS);
    this.#angleReading.show(setpoint, angleRad, voltage);
    return voltage;
  }
}
