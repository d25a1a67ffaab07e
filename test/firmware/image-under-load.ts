import { createCoreRobot } from '../../sim/core/core-robot.js';
import { PicoController } from '../../sim/pico/pico-robot.js';
import type { Unit } from '../../src/core/units.js';
import { Random } from '../support/random.js';

/** The longest allowed times: SCL low for one byte, a run of the bus handler, and the work of a loop period. */
const MAX = { lowNs: 700, handlerNs: 15_000, periodNs: 400_000 };
/** The processor is held for at most this time, in ns. A rare hold loses loop periods. */
const STALL = { usual: 60e3, rare: 2.5e6 };

/**
 * The image in an emulated Pico. Some reads have no register byte, and some writes are followed by a read after a repeated
 * start. With `stalls` the processor is held at times while the bus continues.
 */
export class ImageUnderLoad extends PicoController {
  readonly #random: Random;
  readonly #stalls: boolean;

  constructor(unit: Unit, core: WebAssembly.Module, seed: number, stalls: boolean) {
    const random = new Random(seed + 2);
    const hz = random.chance(0.1) ? 100_000 : 400_000;
    super(unit, createCoreRobot(core, { seed }), { seed, hz });
    this.#random = random;
    this.#stalls = stalls;
  }

  override read(place: number, count: number): Buffer {
    this.#stall();
    const named = this.#random.chance(0.05) ? [] : [place];
    return this.wire.transfer(this.unit.address, named, count);
  }

  override write(place: number, data: Buffer): void {
    this.#stall();
    const count = this.#random.chance(0.05) ? this.#random.whole(1, 20) : 0;
    this.wire.transfer(this.unit.address, [place, ...data], count);
  }

  /** Returns the longest times so far. Without stalls, throws if one of them is longer than allowed. */
  figures(): string {
    const { wire, pico, shadow } = this;
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
    this.pico.hold(this.#random.next() * (this.#random.chance(0.03) ? STALL.rare : STALL.usual));
  }
}
