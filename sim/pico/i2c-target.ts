import { BasePeripheral, type RP2040 } from 'rp2040js';

/**
 * The RP2040's I2C block (DW_apb_i2c) as a target, which rp2040js lacks. Facts: section 4.3 of the RP2040 datasheet. The host
 * calls the methods of "the wire"; the processor reads and writes registers. Registers and interrupts that the image
 * does not use are missing. Using one is a warning, which fails the tests.
 */

/** Offsets of registers. */
const SET = {
  con: 0x00,
  sar: 0x08,
  mask: 0x30,
  rxTl: 0x38,
  enable: 0x6c,
  hold: 0x7c,
  setup: 0x94,
  call: 0x98,
};
const DATA_CMD = 0x10;
const SHOWN = { stat: 0x2c, status: 0x70, rxflr: 0x78 };
/** Values after a reset, 0 for the others. IC_SDA_HOLD and IC_ACK_GENERAL_CALL do nothing here. */
const AT_RESET = [
  [SET.con, 0x65],
  [SET.sar, 0x55],
  [SET.mask, 0x8ff],
  [SET.hold, 1],
  [SET.setup, 0x64],
  [SET.call, 1],
] as const;

/** Interrupts. */
const RECEIVED = 1 << 2;
const READ_REQUEST = 1 << 5;
const ABORT = 1 << 6;
const STOP = 1 << 9;
const START = 1 << 10;
const RESTART = 1 << 12;
const CONDITIONS = STOP | START | RESTART;
const EMULATED = RECEIVED | READ_REQUEST | ABORT | CONDITIONS;
/** The interrupt that reading each of these registers clears. */
const CLEARS = new Map([
  [0x50, READ_REQUEST],
  [0x54, ABORT],
  [0x60, STOP],
  [0x64, START],
  [0xa8, RESTART],
]);

const TARGET_DISABLED = 1 << 6;
const STOP_IF_ADDRESSED = 1 << 7;
const HOLDS_IF_FULL = 1 << 9;
const FIRST_DATA_BYTE = 1 << 11;
const ADDRESSED_STATUS = 1 << 6;
const FIFO_BYTES = 16;

/** Sees the bus as the target does. */
export interface Observer {
  /** The processor has started the block. */
  enabled(): void;
  start(): void;
  byte(byte: number): void;
  stop(): void;
  /** The processor has cleared a start, restart or stop. So it has handled everything that the bus did until now. */
  taken(): void;
  /** The processor has put a byte into the FIFO. */
  given(byte: number): void;
}

export class I2cTarget extends BasePeripheral {
  readonly #irq: number;
  readonly #registers = new Map<number, number>();
  readonly #received: number[] = [];
  readonly #toSend: number[] = [];
  #latched = 0;
  #isFirstByte = false;
  #addressed: 'no' | 'write' | 'read' = 'no';
  #releasedNs = 0;
  observer: Observer | undefined;

  constructor(rp2040: RP2040, name: string, irq: number) {
    super(rp2040, name);
    this.#irq = irq;
    this.reset();
  }

  /** Resets the block. */
  reset(): void {
    for (const offset of Object.values(SET)) this.#registers.set(offset, 0);
    for (const [offset, value] of AT_RESET) this.#registers.set(offset, value);
    this.#latched = 0;
    this.#leave();
    this.#raise();
  }

  // The wire.

  start(): void {
    this.observer?.start();
    this.#latch(this.isAddressed ? START | RESTART : START);
  }

  /** Receives the address byte, which holds the read bit. Returns whether the target acknowledges. */
  address(byte: number): boolean {
    const isTarget = this.#isEnabled && (this.#value(SET.con) & TARGET_DISABLED) === 0;
    const isOurs = isTarget && byte >> 1 === (this.#value(SET.sar) & 0x7f);
    this.#addressed = !isOurs ? 'no' : byte & 1 ? 'read' : 'write';
    this.#isFirstByte = true;
    if (this.#addressed === 'read') {
      // Bytes that were meant for another read are dropped.
      this.#latch(this.#toSend.splice(0).length > 0 ? READ_REQUEST | ABORT : READ_REQUEST);
    }
    return isOurs;
  }

  /** Receives a byte of a write. Returns whether the target acknowledges. A full FIFO loses the byte. */
  receive(byte: number): boolean {
    if (this.#addressed !== 'write') return false;
    if (this.#received.length < FIFO_BYTES) {
      this.observer?.byte(byte);
      this.#received.push(byte | (this.#isFirstByte ? FIRST_DATA_BYTE : 0));
    }
    this.#isFirstByte = false;
    this.#raise();
    return true;
  }

  /** Whether the target holds SCL low. */
  get holds(): boolean {
    if (this.#addressed === 'read') {
      return this.#toSend.length === 0 || this.rp2040.clock.nanos < this.#releasedNs;
    }
    const waits = (this.#value(SET.con) & HOLDS_IF_FULL) !== 0 && this.#received.length >= FIFO_BYTES;
    return this.#addressed === 'write' && waits;
  }

  get isAddressed(): boolean {
    return this.#addressed !== 'no';
  }

  /** Sends a byte of a read. If the processor has given none, SDA stays high: 0xff. */
  send(): number {
    return this.#toSend.shift() ?? 0xff;
  }

  /** The host acknowledges the byte that it has read if it wants one more. */
  acknowledge(more: boolean): void {
    if (this.#addressed === 'read' && more && this.#toSend.length === 0) this.#latch(READ_REQUEST);
  }

  stop(): void {
    this.observer?.stop();
    const counts = this.isAddressed || (this.#value(SET.con) & STOP_IF_ADDRESSED) === 0;
    this.#addressed = 'no';
    if (counts) this.#latch(STOP);
  }

  // The processor.

  override readUint32(offset: number): number {
    const clears = CLEARS.get(offset);
    if (clears !== undefined) {
      if (clears & CONDITIONS) this.observer?.taken();
      const had = (this.#latched & clears) !== 0 ? 1 : 0;
      this.#latched &= ~clears;
      this.#raise();
      return had;
    }
    if (offset === DATA_CMD) {
      const byte = this.#received.shift();
      this.#raise();
      return byte ?? 0;
    }
    if (offset === SHOWN.stat) return this.#interrupts;
    if (offset === SHOWN.status) return this.isAddressed ? ADDRESSED_STATUS : 0;
    if (offset === SHOWN.rxflr) return this.#received.length;
    return this.#registers.get(offset) ?? super.readUint32(offset);
  }

  override writeUint32(offset: number, value: number): void {
    if (offset === DATA_CMD) this.#give(value & 0xff);
    else if (!this.#registers.has(offset)) super.writeUint32(offset, value);
    else if ((offset === SET.con || offset === SET.sar) && this.#isEnabled)
      this.warn('IC_CON and IC_SAR cannot be written while the block is enabled');
    else this.#registers.set(offset, value);
    if (this.#isEnabled && (this.#value(SET.mask) & ~EMULATED) !== 0)
      this.warn(`IC_INTR_MASK ${this.#value(SET.mask)} has an interrupt that is not emulated`);
    if (offset === SET.enable && this.#isEnabled) this.observer?.enabled();
    else if (offset === SET.enable) this.#leave();
    this.#raise();
  }

  #leave(): void {
    this.#received.length = 0;
    this.#toSend.length = 0;
    this.#addressed = 'no';
  }

  /** Takes a byte to send. After an abort the FIFO takes nothing until the processor clears the abort. */
  #give(byte: number): void {
    const isFlushed = (this.#latched & ABORT) !== 0;
    if (isFlushed || !this.#isEnabled || this.#toSend.length >= FIFO_BYTES) return;
    if (this.holds) {
      const setup = (this.#value(SET.setup) - 1) / this.rp2040.clkSys;
      this.#releasedNs = this.rp2040.clock.nanos + 1e9 * setup;
    }
    this.observer?.given(byte);
    this.#toSend.push(byte);
  }

  #value(offset: number): number {
    return this.#registers.get(offset) ?? 0;
  }

  get #isEnabled(): boolean {
    return (this.#value(SET.enable) & 1) !== 0;
  }

  get #interrupts(): number {
    const received = this.#received.length > this.#value(SET.rxTl) ? RECEIVED : 0;
    return (this.#latched | received) & this.#value(SET.mask);
  }

  #latch(bits: number): void {
    this.#latched |= bits;
    this.#raise();
  }

  #raise(): void {
    this.rp2040.setInterrupt(this.#irq, this.#interrupts !== 0);
  }
}
