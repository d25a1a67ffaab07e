import { controllerOf } from '../../src/core/loop-controllers.js';
import type { GainSet } from '../../src/core/units.js';
import { clamped } from '../physics/angles.js';
import type { LoopNameOf, Reading } from './loop-parts.js';
import { MovedSetpoint } from './moved-setpoint.js';
import { NO_GAINS, type Pid, pidOf } from './pid.js';

/** The change of a motion's rate. */
const CHANGE_RAD_S2 = 10;

type GimbalReadings = Readonly<Record<LoopNameOf<'gimbal'>, Reading>>;

/** The two loops of one gimbal axis. The output of the visual loop is the setpoint of the angle loop. */
export class GimbalAxis {
  readonly name: 'yaw' | 'pitch';
  readonly visualName: LoopNameOf<'gimbal'>;
  readonly angleName: LoopNameOf<'gimbal'>;
  readonly #visualReading: Reading;
  readonly #angleReading: Reading;
  readonly #visual: Pid;
  readonly #angle: Pid;
  /** Setpoints keep some distance from the mechanical stops. */
  readonly #limits: { readonly min: number; readonly max: number };
  /** The setpoint of the angle, without the excitation. */
  #aimRad = 0;
  readonly #motion: MovedSetpoint;

  constructor(axis: 'yaw' | 'pitch', readings: GimbalReadings, periodS: number) {
    this.name = axis;
    this.visualName = `visual_${axis}`;
    this.angleName = `angle_${axis}`;
    this.#visualReading = readings[this.visualName];
    this.#angleReading = readings[this.angleName];
    const visual = { unit: 'gimbal', name: this.visualName } as const;
    this.#limits = controllerOf(visual).outputLimits;
    this.#visual = pidOf(visual, periodS);
    this.#angle = pidOf({ unit: 'gimbal', name: this.angleName }, periodS);
    this.#motion = new MovedSetpoint(periodS, CHANGE_RAD_S2);
  }

  get aimRad(): number {
    return this.#aimRad;
  }

  aimAt(angleRad: number): void {
    this.#aimRad = clamped(angleRad, this.#limits.min, this.#limits.max);
  }

  /** Aims where the axis is, and forgets a motion. An axis that an obstacle holds back must not keep pushing. */
  enter(angleRad: number): void {
    this.aimAt(angleRad);
    if (this.#motion.isBlocked) this.#angle.follow(0, angleRad, angleRad);
    this.#motion.start(0);
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

  /**
   * One loop period in which the axis holds its aim plus `excitation`, and the aim moves at `rate`. Returns the motor's
   * voltage.
   */
  hold(angleRad: number, offsetRad: number, gains: GainSet, excitation: number, rate: number): number {
    const relax = () => this.#angle.follow(0, angleRad, angleRad);
    this.aimAt(this.#motion.next(this.#aimRad, angleRad, rate, relax));
    this.#watch(offsetRad);
    return this.#turn(angleRad, excitation, gains);
  }

  /** One loop period in which the axis keeps the visible target at `excitation` from the boresight. Returns the motor's voltage. */
  track(angleRad: number, offsetRad: number, gains: GainSet, excitation: number): number {
    // The offset falls when the axis turns towards the target, so both signs are reversed.
    this.#aimRad = this.#visual.update(-excitation, -offsetRad, gains[this.visualName] ?? NO_GAINS);
    this.#visualReading.show(excitation, offsetRad, this.#aimRad);
    return this.#turn(angleRad, 0, gains);
  }

  #watch(offsetRad: number): void {
    this.#visual.follow(this.#aimRad, 0, -offsetRad);
    this.#visualReading.show(0, offsetRad, this.#aimRad);
  }

  #turn(angleRad: number, excitation: number, gains: GainSet): number {
    const setpoint = clamped(this.#aimRad + excitation, this.#limits.min, this.#limits.max);
    const voltage = this.#angle.update(setpoint, angleRad, gains[this.angleName] ?? NO_GAINS);
    this.#angleReading.show(setpoint, angleRad, voltage);
    return voltage;
  }
}
