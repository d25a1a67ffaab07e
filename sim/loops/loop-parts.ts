import { type UNITS, type UnitName, unitNamed } from '../../src/core/units.js';
import type { LoopCommand, LoopReading } from '../firmware/unit-loops.js';

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
}

/** The loop that is excited now. Undefined if there is none. */
export function excitedLoop({ mode, torque, excitation }: LoopCommand): string | undefined {
  return mode === 'debug' && torque ? excitation.loop : undefined;
}

export type LoopNameOf<U extends UnitName> = keyof (typeof UNITS)[U]['loops'];

/** A reading that its loop updates. */
export class Reading implements LoopReading {
  setpoint = 0;
  measured = 0;
  output = 0;

  show(setpoint: number, measured: number, output: number): void {
    this.setpoint = setpoint;
    this.measured = measured;
    this.output = output;
  }
}

/** One reading for every declared loop. Loops that this firmware does not run stay at 0. */
export function readingsOf<U extends UnitName>(unit: U): Record<LoopNameOf<U>, Reading> {
  const readings = unitNamed(unit).loops.map(loop => [loop.name, new Reading()]);
  return Object.fromEntries(readings) as Record<LoopNameOf<U>, Reading>;
}
