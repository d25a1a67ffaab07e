import type { Controller } from '../../sim/firmware/simulated-controller.js';
import { createPico, type PicoController } from '../../sim/pico/pico-robot.js';
import type { Unit } from '../../src/core/units.js';
import { Random } from '../walk/random.js';

/** The longest allowed times: SCL low for one byte, a run of the bus handler, and the work of a loop period. */
const MAX = { lowNs: 700, handlerNs: 15_000, periodNs: 400_000 };
/** The processor is held for at most this time, in ns. A rare hold loses loop periods. */
const STALL = { usual: 60e3, rare: 2.5e6 };

/**
 * The image in an emulated Pico. Some reads have no register byte, and some writes are followed by a read after a repeated
 * start. With `stalls` the processor is held at times while the bus continues.
 */
export class ImageUnderLoad implements Controller {
  readonly unit: Unit;
  readonly #pico: PicoController;
  readonly #random: Random;
  readonly #stalls: boolean;

  constructor(unit: Unit, core: WebAssembly.Module, seed: number, stalls: boolean) {
    this.unit = unit;
    this.#random = new Random(seed + 2);
    this.#stalls = stalls;
    this.#pico = createPico(unit, core, { seed, hz: this.#random.chance(0.1) ? 100_000 : 400_000 }).pico;
  }

  reset(): void {
    this.#pico.reset();
  }

  tick(): void {
    this.#pico.tick();
  }

  read(place: number, count: number): Buffer {
    this.#stall();
    const { wire } = this.#pico;
    const named = this.#random.chance(0.05) ? [] : [place];
    return wire.transfer(this.unit.address, named, count);
  }

  write(place: number, data: Buffer): void {
    this.#stall();
    const count = this.#random.chance(0.05) ? this.#random.whole(1, 20) : 0;
    this.#pico.wire.transfer(this.unit.address, [place, ...data], count);
  }

  truth(): Record<string, unknown> {
    return this.#pico.truth();
  }

  /** Returns the longest times so far. Without stalls, throws if one of them is longer than allowed. */
  figures(): string {
    const { wire, pico, shadow } = this.#pico;
    const { handlerNs, periodNs } = pico.chip.measured;
    const times = { lowNs: wire.longestLowNs, handlerNs, periodNs };
    const shown = Object.entries(times).map(([name, ns]) => `${name} ${Math.round(ns)}`);
    const text = `${this.unit.name}${this.#stalls ? ', stalled' : ''}: ${shown.join(', ')}, ${shadow.sent} bytes`;
    const { warnings } = pico.chip;
    if (warnings.length > 0) throw new Error(warnings.join('; '));
    const isLong = Object.entries(times).some(([name, ns]) => ns > (MAX[name as keyof typeof MAX] ?? 0));
    if (!this.#stalls && isLong) throw new Error(`too long: ${text}`);
    return text;
  }

  #stall(): void {
    if (!this.#stalls || this.#random.chance(0.7)) return;
    this.#pico.pico.hold(this.#random.next() * (this.#random.chance(0.03) ? STALL.rare : STALL.usual));
  }
}
