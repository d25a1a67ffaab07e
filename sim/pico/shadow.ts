import type { Core } from '../core/core.js';
import type { I2cTarget, Observer } from './i2c-target.js';
import type { Pico } from './pico.js';

const SHOWN = 40;
/** The offset of the boot id in `struct motor`, in bytes. */
const BOOT_ID = 4;

/**
 * The core in WebAssembly beside the image: it gets the same bytes and sensors in the same order. Throws if the image
 * sends another byte than the core.
 */
export class Shadow implements Observer {
  readonly core: Core;
  readonly #pico: Pico;
  readonly #log: string[] = [];
  #waiting: (() => void)[] = [];
  #target: I2cTarget | undefined;
  /** The number of bytes that the image has sent. */
  sent = 0;
  /** False if a test injects faults into the image that the core does not get. */
  isStrict = true;

  constructor(pico: Pico, core: Core) {
    this.#pico = pico;
    this.core = core;
    pico.onPublished = () => {
      if (!this.isAlike) return;
      core.tick();
      this.#note('|');
    };
  }

  /** Whether the image has started, and the core with it. */
  get isAlike(): boolean {
    return this.#target === this.#pico.target;
  }

  start(): void {
    this.#later('S', () => {
      this.core.frameEnds();
      void this.core.next;
    });
  }

  byte(byte: number): void {
    this.#later(byte.toString(16), () => this.core.receive(byte));
  }

  stop(): void {
    this.#later('P', () => this.core.frameEnds());
  }

  taken(): void {
    for (const act of this.#waiting.splice(0)) act();
  }

  given(byte: number): void {
    this.taken();
    const { next } = this.core;
    this.#note(`[${byte.toString(16)}]`);
    if (byte !== next && this.isStrict)
      throw new Error(
        `${this.#log.join(' ')}: the image sends ${byte.toString(16)}, the core ${next.toString(16)}`,
      );
    this.sent += 1;
    this.core.sent();
    void this.core.next;
  }

  #later(name: string, act: () => void): void {
    this.#note(name);
    this.#waiting.push(act);
  }

  #note(name: string): void {
    if (this.#log.push(name) > 2 * SHOWN) this.#log.splice(0, SHOWN);
  }

  /** Starts the core with the boot id of the image, which has just started. */
  enabled(): void {
    if (this.isAlike) return;
    this.#target = this.#pico.target;
    this.#waiting = [];
    this.core.reset(this.#pico.variable('motor').readUInt32LE(BOOT_ID));
  }
}
