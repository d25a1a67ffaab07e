import type { Excitation } from '../core/units.js';
import type { UnitEvent } from './robot-event.js';

/** An excitation with the guard of a trial. */
export interface GuardedExcitation extends Excitation {
  /** Past this deviation of the loop the controller ends the excitation; 0 = no guard. */
  readonly deviation: number;
}

/** The excitation that is wanted of a unit in debug mode. */
export class WantedExcitation {
  readonly #emit: (event: UnitEvent) => void;
  #excitation: Excitation | undefined;
  #runaway: number | undefined;

  constructor(emit: (event: UnitEvent) => void) {
    this.#emit = emit;
  }

  /** Undefined if none is wanted. */
  get current(): Excitation | undefined {
    return this.#excitation;
  }

  /** The largest deviation that was asked for with it; undefined if the loop's own bound holds. */
  get runaway(): number | undefined {
    return this.#runaway;
  }

  want(excitation: Excitation | undefined, runaway?: number): void {
    this.#runaway = runaway;
    const moving = excitation?.amplitude === 0 ? undefined : excitation;
    if (this.is(moving)) return;
    this.#excitation = moving;
    this.#emit({ what: 'excitation', after: moving ?? null });
  }

  /** Compares as float32, which controllers keep. All excitations without amplitude are alike. */
  is(excitation: Excitation | undefined): boolean {
    const wanted = this.#excitation;
    const [a, b] = [excitation?.amplitude ?? 0, wanted?.amplitude ?? 0].map(Math.fround);
    if (a !== b) return false;
    if (a === 0 || excitation === undefined || wanted === undefined) return true;
    return excitation.loop === wanted.loop && Math.fround(excitation.periodS) === Math.fround(wanted.periodS);
  }
}
