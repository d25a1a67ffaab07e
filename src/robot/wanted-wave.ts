import type { Excitation } from '../core/units.js';
import type { UnitEvent } from './robot-event.js';

/** The wave that is wanted of a unit in debug mode. */
export class WantedWave {
  readonly #emit: (event: UnitEvent) => void;
  #wave: Excitation | undefined;
  #runaway: number | undefined;

  constructor(emit: (event: UnitEvent) => void) {
    this.#emit = emit;
  }

  /** Undefined where no wave is wanted. */
  get current(): Excitation | undefined {
    return this.#wave;
  }

  /** The largest deviation that the wave's loop may have during a trial; undefined where its own bound holds. */
  get runaway(): number | undefined {
    return this.#runaway;
  }

  want(wave: Excitation | undefined, runaway?: number): void {
    this.#runaway = runaway;
    const moving = wave?.amplitude === 0 ? undefined : wave;
    if (this.is(moving)) return;
    this.#wave = moving;
    this.#emit({ what: 'excitation', after: moving ?? null });
  }

  /**
   * Whether `wave` is the wanted one. Controllers keep float32, so values are compared as such. All waves without
   * amplitude are alike.
   */
  is(wave: Excitation | undefined): boolean {
    const [a, b] = [wave?.amplitude ?? 0, this.#wave?.amplitude ?? 0].map(Math.fround);
    if (a !== b) return false;
    if (a === 0 || wave === undefined || this.#wave === undefined) return true;
    return wave.loop === this.#wave.loop && Math.fround(wave.periodS) === Math.fround(this.#wave.periodS);
  }
}
