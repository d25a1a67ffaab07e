import type { Mode } from '../../src/core/units.js';
import type { LoopCommand } from '../firmware/unit-loops.js';

/** Notices when a unit is to do something else than in the period before. */
export class Activity {
  #mode: Mode | undefined;
  #torque = false;
  #loop = '';

  /** `entered`: mode or torque are new. `redirected`: another loop is excited. */
  turn({ mode, torque, excitation }: LoopCommand): 'entered' | 'redirected' | 'same' {
    const entered = mode !== this.#mode || torque !== this.#torque;
    const redirected = mode === 'debug' && excitation.loop !== this.#loop;
    this.#mode = mode;
    this.#torque = torque;
    this.#loop = excitation.loop;
    if (entered) return 'entered';
    return redirected ? 'redirected' : 'same';
  }

  reset(): void {
    this.#mode = undefined;
  }
}

/** The loop that carries the square wave now, if any. */
export function excitedLoop({ mode, torque, excitation }: LoopCommand): string | undefined {
  return mode === 'debug' && torque ? excitation.loop : undefined;
}
