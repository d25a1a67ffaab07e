import type { LoopCommand } from '../firmware/unit-loops.js';

/** Notices when a unit's command differs from the one of the period before. */
export class Activity {
  #last: LoopCommand | undefined;

  /** `entered`: mode or torque changed. `redirected`: another loop is excited. */
  turn(command: LoopCommand): 'entered' | 'redirected' | 'same' {
    const last = this.#last;
    this.#last = command;
    const { mode, torque, excitation } = command;
    if (mode !== last?.mode || torque !== last.torque) return 'entered';
    return mode === 'debug' && excitation.loop !== last.excitation.loop ? 'redirected' : 'same';
  }

  reset(): void {
    this.#last = undefined;
  }
}

/** The loop that carries the square wave now. Undefined if there is none. */
export function excitedLoop({ mode, torque, excitation }: LoopCommand): string | undefined {
  return mode === 'debug' && torque ? excitation.loop : undefined;
}
