import type { LoopCommand } from '../firmware/unit-loops.js';
import { towards } from '../physics/angles.js';
import { excitedLoop } from './loop-parts.js';

/** How long the setpoint takes to return after an excitation has ended. */
const FADE_S = 1;

/** The excitation of debug mode. It begins with its positive half. A new amplitude or period begins at the next edge. */
export class ExcitationSignal {
  readonly #rateHz: number;
  /** The number that is added to the setpoint now. */
  value = 0;
  edges = 0;
  /** Loop periods since the last edge. Undefined if there is no excitation. */
  #since: number | undefined;
  /** Loop periods from the last edge to the next. */
  #half = 0;
  #height = 0;

  /** `rateHz`: loop periods per second. */
  constructor(rateHz: number) {
    this.#rateHz = rateHz;
  }

  /** Runs one loop period. An excitation that has ended fades. */
  tick(command: LoopCommand): void {
    const { amplitude, periodS } = command.excitation;
    if (excitedLoop(command) === undefined || amplitude === 0) {
      this.#since = undefined;
      this.value = towards(this.value, 0, this.#height / this.#rateHz / FADE_S);
      return;
    }
    const isNew = this.#since === undefined;
    this.#since = (this.#since ?? 0) + 1;
    if (isNew) this.#edge(amplitude, periodS);
    else if (this.#since >= this.#half) this.#edge(this.value > 0 ? -amplitude : amplitude, periodS);
  }

  /** Ends the excitation at once, without fading. */
  end(): void {
    this.#since = undefined;
    this.value = 0;
  }

  #edge(value: number, periodS: number): void {
    this.value = value;
    this.#height = Math.abs(value);
    this.edges += 1;
    this.#since = 0;
    this.#half = Math.round((periodS / 2) * this.#rateHz);
  }
}
