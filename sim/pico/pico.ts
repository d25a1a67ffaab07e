import { type Chip, powered, RAM } from './chip.js';
import type { I2cTarget } from './i2c-target.js';
import type { PicoImage } from './pico-image.js';

/** A Raspberry Pi Pico that runs a firmware image in emulated time. */
export class Pico {
  readonly image: PicoImage;
  readonly #random: () => number;
  /** The place in RAM of `newest`, the last member of `motor`. Three bytes of padding follow it. */
  readonly #newest: number;
  /** The chip since its last reset. */
  chip: Chip;
  #sinceNs = 0;
  #heldUntilNs = 0;
  #heldAsleep = false;
  resets = 0;
  /** Called when a processor starts. */
  onStart: () => void = () => undefined;
  /** Called when the processor goes to sleep after a loop period. */
  onPeriod: () => void = () => undefined;
  /** Called when the loop publishes its state. */
  onPublished: () => void = () => undefined;

  constructor(image: PicoImage, random: () => number) {
    this.image = image;
    this.#random = random;
    const { address, bytes } = this.#placeOf('motor');
    this.#newest = address + bytes - 4 - RAM;
    this.chip = this.#made(undefined);
  }

  /** Cuts the power and restores it. */
  power(): void {
    this.#start(undefined);
  }

  #start(before: Chip | undefined): void {
    this.#sinceNs += this.chip.clock.nanos;
    this.#heldUntilNs = 0;
    this.chip = this.#made(before);
    this.onStart();
  }

  #made(before: Chip | undefined): Chip {
    const chip = powered(this.image.bytes, this.#random, before);
    chip.watchdog.onWatchdogTrigger = () => {
      // Stops the watchdog, whose timer would trigger again and again at this instant.
      chip.watchdog.writeUint32(0, 0);
      this.resets += 1;
      this.#start(chip);
    };
    return chip;
  }

  get nowNs(): number {
    return this.#sinceNs + this.chip.clock.nanos;
  }

  /** The I2C block that the image uses. */
  get target(): I2cTarget {
    return this.chip.i2c;
  }

  get sleeps(): boolean {
    return this.chip.rp2040.core.waiting;
  }

  /** Whether an interrupt of the bus that comes now is handled before the next loop period begins. */
  get isBetweenPeriods(): boolean {
    return this.sleeps || this.staysHeld(0);
  }

  /** Whether the processor was asleep when it was held, and stays held for more than this time. */
  staysHeld(ns: number): boolean {
    return this.#heldAsleep && this.nowNs + ns < this.#heldUntilNs;
  }

  /** Holds the processor for this time. Its peripherals continue. */
  hold(ns: number): void {
    this.#heldAsleep = this.sleeps;
    this.#heldUntilNs = this.nowNs + ns;
  }

  /** Lets time pass until `untilNs`, or until `when` is true. A sleep of the processor takes one step. */
  run(untilNs: number, when: () => boolean = () => false): void {
    while (this.nowNs < untilNs && !when()) {
      const { clock, rp2040 } = this.chip;
      const { core } = rp2040;
      const leftNs = Math.min(untilNs - this.nowNs, clock.nanosToNextAlarm || Number.POSITIVE_INFINITY);
      const heldNs = this.#heldUntilNs - this.nowNs;
      if (heldNs > 0) clock.tick(Math.min(leftNs, heldNs));
      else if (core.waiting && core.interruptsUpdated && core.checkForInterrupts()) core.waiting = false;
      else if (core.waiting) clock.tick(leftNs);
      else this.#execute(untilNs - this.#sinceNs, when);
    }
  }

  /** Runs the program until the processor sleeps. */
  #execute(untilNs: number, when: () => boolean): void {
    const chip = this.chip;
    const { clock, rp2040, measured } = chip;
    const { core, sram } = rp2040;
    const cycleNs = 1e9 / rp2040.clkSys;
    let newest = sram[this.#newest];
    do {
      const cycles = core.executeInstruction() + measured.extraCycles;
      measured.extraCycles = 0;
      clock.tick(cycles * cycleNs);
      if (sram[this.#newest] !== newest) {
        newest = sram[this.#newest];
        this.onPublished();
      }
    } while (!core.waiting && clock.nanos < untilNs && !when() && this.chip === chip);
    if (!core.waiting || measured.periodBeganNs === undefined) return;
    measured.periodNs = Math.max(measured.periodNs, clock.nanos - measured.periodBeganNs);
    measured.periodBeganNs = undefined;
    this.onPeriod();
  }

  /** The bytes of a variable of the image. They change while it runs. */
  variable(name: string): Buffer {
    const { buffer, byteOffset } = this.chip.rp2040.sram;
    const { address, bytes } = this.#placeOf(name);
    return Buffer.from(buffer, byteOffset + address - RAM, bytes);
  }

  #placeOf(name: string): { readonly address: number; readonly bytes: number } {
    const place = this.image.variables.get(name);
    if (place === undefined) throw new TypeError(`the image has no variable ${name}`);
    return place;
  }
}
