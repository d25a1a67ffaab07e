import type { GainSet, Gains, Loop, Unit } from '../../src/core/units.js';
import { gainsChecksum } from '../../src/protocol/codec.js';

/** Staged and active gains of one controller. Only a whole set becomes active. */
export class GainBank {
  readonly #unit: Unit;
  readonly #staged = new Map<number, Gains>();
  /** The active set. */
  committed: GainSet | undefined;
  /** Whether the last commit was refused. */
  commitRefused = false;
  /** The set that was committed last. It is in force, or soon will be. */
  #shown: GainSet | undefined;

  constructor(unit: Unit) {
    this.#unit = unit;
  }

  /** The checksum of the active set; 0 before the first commit. */
  get checksum(): number {
    return this.committed === undefined ? 0 : gainsChecksum(this.#unit, this.committed);
  }

  /** One bit per slot. */
  get stagedBits(): number {
    return [...this.#staged.keys()].reduce((bits, slot) => bits | (1 << slot), 0);
  }

  stage({ slot }: Loop, gains: Gains): void {
    this.#staged.set(slot, gains);
  }

  /** The content of the loop's staging frame. A commit does not change it. */
  shown({ slot, name }: Loop): Gains {
    return this.#staged.get(slot) ?? this.#shown?.[name] ?? { kp: 0, ki: 0, kd: 0 };
  }

  /** Returns the staged set if it is complete and has this checksum. Otherwise refuses the commit and returns undefined. */
  commit(checksum: number): GainSet | undefined {
    const set: Record<string, Gains> = {};
    for (const { slot, name } of this.#unit.loops) {
      const staged = this.#staged.get(slot);
      if (staged !== undefined) set[name] = staged;
    }
    const whole = Object.keys(set).length === this.#unit.loops.length;
    this.commitRefused = !whole || gainsChecksum(this.#unit, set) !== checksum;
    if (this.commitRefused) return undefined;
    this.#shown = set;
    this.#staged.clear();
    return set;
  }
}
