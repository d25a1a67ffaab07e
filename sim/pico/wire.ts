import { RobotError } from '../../src/core/errors.js';
import type { I2cTarget } from './i2c-target.js';
import type { Pico } from './pico.js';

const BITS = 9;
/** The Raspberry Pi's adapter gives up then. */
const TIMEOUT_NS = 35e6;

/** The host's side of the bus, in the emulated time of one Pico. */
export class Wire {
  readonly #pico: Pico;
  readonly #bitNs: number;
  /** When the bus goes on. */
  #atNs = 0;
  #heldNs = 0;
  /** The longest time in one transaction in which the target held SCL low beyond the host's own low phases. */
  longestHoldNs = 0;

  constructor(pico: Pico, hz: number) {
    this.#pico = pico;
    this.#bitNs = 1e9 / hz;
  }

  /** Writes the bytes, if there are any. Then reads. */
  transfer(address: number, bytes: Iterable<number>, count: number): Buffer {
    const read = Buffer.alloc(count);
    const written = [...bytes];
    this.#heldNs = 0;
    this.#atNs = this.#pico.nowNs;
    if (written.length > 0 || count === 0) this.#begin(address << 1, 0);
    for (const byte of written) if (!this.#byte(() => this.#target.receive(byte))) throw refusal(address);
    if (count > 0) this.#begin((address << 1) | 1, written.length);
    for (let at = 0; at < count; at += 1) {
      this.#byte(() => {
        read[at] = this.#target.send();
        this.#target.acknowledge(at < count - 1);
        return true;
      });
    }
    this.#end(count > 0 ? 0 : written.length);
    this.longestHoldNs = Math.max(this.longestHoldNs, this.#heldNs);
    return read;
  }

  get #target(): I2cTarget {
    return this.#pico.target;
  }

  #pass(ns: number): void {
    this.#atNs += ns;
    this.#pico.run(this.#atNs);
  }

  /** A condition that ends a write waits until the processor sleeps, so that it is clear in which period it counts. */
  #rest(written: number): void {
    const isClear = () => written < 2 || this.#pico.isBetweenPeriods;
    this.#pico.run(this.#atNs + TIMEOUT_NS, isClear);
    this.#atNs = Math.max(this.#atNs, this.#pico.nowNs);
  }

  #begin(address: number, written: number): void {
    this.#pass(this.#bitNs);
    this.#rest(written);
    this.#target.start();
    if (!this.#byte(() => this.#target.address(address))) throw refusal(address >> 1);
  }

  #byte(moved: () => boolean): boolean {
    const lowNs = this.#bitNs / 2;
    this.#pass(lowNs);
    if (this.#target.holds) {
      this.#pico.run(this.#atNs + TIMEOUT_NS, () => !this.#target.holds);
      if (this.#target.holds) throw new RobotError('bus-timeout', { errno: 110 });
      this.#heldNs += this.#pico.nowNs - this.#atNs;
      this.#atNs = this.#pico.nowNs;
    }
    this.#pass(BITS * this.#bitNs - lowNs);
    return moved();
  }

  #end(written: number): void {
    this.#pass(this.#bitNs);
    this.#rest(written);
    this.#target.stop();
    this.#pass(this.#bitNs);
    this.#pico.run(this.#atNs + TIMEOUT_NS, () => this.#pico.sleeps);
  }
}

function refusal(address: number): RobotError {
  return new RobotError('nack', { errno: 121, address });
}
