import type { GainSet, Gains, Loop, Unit } from '../../src/core/units.js';
import { gainsChecksum } from '../../src/protocol/codec.js';

/** Staged and active gains of one controller: whole sets become active, or nothing does. */
export class GainBank {
  readonly #unit: Unit;
  readonly #staged = new Map<number, Gains>();
  #active: GainSet | undefined;
  #checksum = 0;
  #commitRefused = false;

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  get committed(): GainSet | undefined {
    return this.#active;
  }

  get checksum(): number {
    return this.#checksum;
  }

  get commitRefused(): boolean {
    return this.#commitRefused;
  }

  /** One bit per slot. */
  get stagedBits(): number {
    return [...this.#staged.keys()].reduce((bits, slot) => bits | (1 << slot), 0);
  }

  stage({ slot }: Loop, gains: Gains): void {
    this.#staged.set(slot, gains);
  }

  /** The content of the loop's staging frame. A commit leaves it as it was. */
  shown({ slot, name }: Loop): Gains {
    return this.#staged.get(slot) ?? this.#active?.[name] ?? { kp: 0, ki: 0, kd: 0 };
  }

  commit(checksum: number): void {
    const set: Record<string, Gains> = {};
    for (const { slot, name } of this.#unit.loops) {
      const staged = this.#staged.get(slot);
      if (staged !== undefined) set[name] = staged;
    }
    const whole = Object.keys(set).length === this.#unit.loops.length;
    this.#commitRefused = !whole || gainsChecksum(this.#unit, set) !== checksum;
    if (this.#commitRefused) return;
    this.#active = set;
    this.#checksum = checksum;
    this.#staged.clear();
  }
}
