import type { LoopCommand } from '../../sim/firmware/unit-loops.js';
import type { Excitation, Unit } from '../../src/core/units.js';
import { ScriptedLoops } from '../support/scripted-loops.js';

/** Loops without physics. They follow the excitation at once, and record the firmware's last command. */
export class LightLoops extends ScriptedLoops {
  /** Whether a motion moved the unit in the last loop period, and whether it did so outside manual or without torque. */
  moves = false;
  strays = false;
  /** The excitation that runs; undefined if there is none. */
  excitation: Excitation | undefined;
  #phase = 0;
  readonly #rateHz: number;

  constructor(unit: Unit, rateHz: number) {
    super(unit);
    this.#rateHz = rateHz;
  }

  override tick({ mode, torque, excitation, rates }: LoopCommand): void {
    this.moves = Object.values(rates).some(rate => rate !== 0);
    this.strays = this.moves && (mode !== 'manual' || !torque);
    const runs = mode === 'debug' && excitation.amplitude > 0;
    this.excitation = runs ? excitation : undefined;
    const reading = this.readings[excitation.loop];
    if (!runs || !torque || reading === undefined) return;
    const half = Math.floor(this.#phase);
    this.#phase += 2 / (excitation.periodS * this.#rateHz);
    if (Math.floor(this.#phase) !== half) this.edges += 1;
    reading.setpoint = Math.floor(this.#phase) % 2 === 0 ? excitation.amplitude : -excitation.amplitude;
    reading.measured = reading.setpoint;
  }

  override reset(): void {
    this.excitation = undefined;
    this.moves = this.strays = false;
    for (const reading of Object.values(this.readings)) reading.setpoint = reading.measured = 0;
  }
}
