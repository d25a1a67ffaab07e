import { RobotError } from '../../src/core/errors.js';
import type { I2cTarget } from './i2c-target.js';
import type { Pico } from './pico.js';

const BITS = 9;
/** The Raspberry Pi's adapter times out after this time. */
const TIMEOUT_NS = 35e6;

/** The host's side of the bus, in the emulated time of one Pico. */
export class Wire {
  readonly #pico: Pico;
  readonly #bitNs: number;
  /** The time that the bus has reached. */
  #atNs = 0;
  /** If true, the host ends a write only while the processor sleeps. The loop period that gets the frame is then certain. */
  isPatient = true;
  /** The longest time in which the target held SCL low for one byte. */
  longestLowNs = 0;

  constructor(pico: Pico, hz: number) {
    this.#pico = pico;
    this.#bitNs = 1e9 / hz;
  }

  /** Writes the bytes, if there are any. Then reads. */
  transfer(address: number, bytes: readonly number[], count: number): Buffer {
    const read = this.tear(address, bytes, count, count);
    this.#pass(this.#bitNs);
    this.#rest(count > 0 ? 0 : bytes.length);
    this.#target.stop();
    this.#pass(this.#bitNs);
    // Waits until the processor sleeps, or until it is held for the first bytes of the next write too. Otherwise it would be
    // uncertain whether the processor handles this end before those bytes.
    const isClear = () => this.#pico.sleeps || this.#pico.staysHeld(3 * BITS * this.#bitNs);
    this.#pico.run(this.#atNs + TIMEOUT_NS, isClear);
    return read;
  }

  /** Begins a transaction and does not end it. The host reads `count` bytes of the `wanted` ones. */
  tear(address: number, bytes: readonly number[], count: number, wanted = count + 1): Buffer {
    const read = Buffer.alloc(count);
    this.#atNs = this.#pico.nowNs;
    if (bytes.length > 0 || count === 0) this.#begin(address, 0, 0);
    for (const byte of bytes) {
      this.#byte();
      if (!this.#target.receive(byte)) throw refusal(address);
    }
    if (count > 0) this.#begin(address, 1, bytes.length);
    for (let at = 0; at < count; at += 1) {
      this.#byte();
      read[at] = this.#target.send();
      this.#target.acknowledge(at < wanted - 1);
    }
    return read;
  }

  get #target(): I2cTarget {
    return this.#pico.target;
  }

  #pass(ns: number): void {
    this.#atNs += ns;
    this.#pico.run(this.#atNs);
  }

  #rest(written: number): void {
    const isClear = () => written < 2 || !this.isPatient || this.#pico.isBetweenPeriods;
    this.#pico.run(this.#atNs + TIMEOUT_NS, isClear);
    this.#atNs = Math.max(this.#atNs, this.#pico.nowNs);
  }

  #begin(address: number, readBit: number, written: number): void {
    this.#pass(this.#bitNs);
    this.#rest(written);
    this.#target.start();
    this.#byte();
    if (!this.#target.address((address << 1) | readBit)) throw refusal(address);
  }

  /** Passes the time of one byte, which begins when the target releases SCL. */
  #byte(): void {
    const beganNs = this.#atNs;
    this.#pico.run(beganNs + TIMEOUT_NS, () => !this.#target.holds);
    if (this.#target.holds) throw new RobotError('bus-timeout', { errno: 110 });
    const lowNs = this.#pico.nowNs - beganNs;
    this.longestLowNs = Math.max(this.longestLowNs, lowNs);
    this.#atNs += Math.max(0, lowNs - this.#bitNs / 2);
    this.#pass(BITS * this.#bitNs);
  }
}

function refusal(address: number): RobotError {
  return new RobotError('nack', { errno: 121, address });
}
