import type { Unit } from '../../src/core/units.js';
import type { UnitLoops } from './unit-loops.js';

/** Values of the telemetry frame: reads within one loop period show one snapshot, with one number. */
export class Telemetry {
  readonly #unit: Unit;
  readonly #loops: UnitLoops;
  #sequence = 0;
  #isOld = false;

  constructor(unit: Unit, loops: UnitLoops) {
    this.#unit = unit;
    this.#loops = loops;
  }

  /** One loop period has passed. */
  tick(): void {
    this.#isOld = true;
  }

  values(): Readonly<Record<string, number>> {
    if (this.#isOld) this.#sequence = (this.#sequence + 1) & 0xff;
    this.#isOld = false;
    const { readings, pose } = this.#loops;
    const values: Record<string, number> = { sequence: this.#sequence };
    for (const { name } of this.#unit.loops) {
      const { setpoint = 0, measured = 0, output = 0 } = readings[name] ?? {};
      values[`${name}.setpoint`] = setpoint;
      values[`${name}.measured`] = measured;
      values[`${name}.output`] = output;
    }
    if (pose === undefined) return values;
    return { ...values, 'pose.x': pose.xM, 'pose.y': pose.yM, 'pose.heading': pose.headingRad };
  }
}
