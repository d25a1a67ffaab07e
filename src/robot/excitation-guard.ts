import type { Excitation, Unit } from '../core/units.js';
import { hasFlag, type StatusFrame } from './status-frame.js';

/** What one controller's guard has to be, and has been given. Firmware may have none. */
export class ExcitationGuard {
  readonly #unit: Unit;
  /** The deviation that it was given since the controller started; undefined where nobody knows. */
  #given: number | undefined;

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  /** The deviation that this wave bears: what it asks for, or else its loop's own; 0, no guard, where nothing moves. */
  boundOf(wave: Excitation | undefined, runaway: number | undefined): number {
    if (wave === undefined || wave.amplitude === 0) return 0;
    return runaway ?? this.#unit.loops.find(({ name }) => name === wave.loop)?.runaway ?? 0;
  }

  /** Whether the controller has one. */
  isIn(status: StatusFrame | undefined): boolean {
    return hasFlag(status, 'guard');
  }

  /** Whether the controller has a guard, and another deviation for it. */
  lacks(deviation: number, status: StatusFrame | undefined): boolean {
    return this.#given !== deviation && this.isIn(status);
  }

  gave(deviation: number): void {
    this.#given = deviation;
  }

  forget(): void {
    this.#given = undefined;
  }
}
