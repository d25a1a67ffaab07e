import { BasePeripheral, type RP2040 } from 'rp2040js';

/**
 * The RP2040's I2C block (DW_apb_i2c) as a target, which rp2040js lacks. Facts: section 4.3 of the RP2040 datasheet. The host
 * calls the methods of "the wire"; the processor reads and writes registers.
 */

/** Offsets of registers. */
const SET = { con: 0x00, sar: 0x08, mask: 0x30, rxTl: 0x38, txTl: 0x3c, enable: 0x6c, setup: 0x94 };
const SHOWN = { stat: 0x2c, raw: 0x34, status: 0x70, txflr: 0x74, rxflr: 0x78, abort: 0x80, enabled: 0x9c };
const DATA_CMD = 0x10;
/** Values after a reset, 0 for the others. IC_SDA_HOLD and IC_ACK_GENERAL_CALL do nothing here. */
const AT_RESET = { [SET.con]: 0x65, [SET.sar]: 0x55, [SET.mask]: 0x8ff, [SET.setup]: 0x64, 124: 1, 152: 1 };

/** Interrupts. */
const RX = { under: 1 << 0, over: 1 << 1, full: 1 << 2, done: 1 << 7 };
const TX = { over: 1 << 3, empty: 1 << 4, abort: 1 << 6 };
const READ_REQUEST = 1 << 5;
const CONDITION = { stop: 1 << 9, start: 1 << 10, restart: 1 << 12 };
const CONDITIONS = CONDITION.stop | CONDITION.start | CONDITION.restart;
const ACTIVITY = 1 << 8;

const CLEAR_ALL = 0x40;
const CLEAR_RESTART = 0xa8;
/** The interrupt bits that reading the registers from 0x44 on clears, one bit for each register. */
const CLEARED = [0, 1, 3, 5, 6, 7, 8, 9, 10, 11];

const TARGET_DISABLED = 1 << 6;
const STOP_IF_ADDRESSED = 1 << 7;
const HOLDS_IF_FULL = 1 << 9;
const FIRST_DATA_BYTE = 1 << 11;
const FLUSHED_FOR_READ = 1 << 13;
const FIFO_BYTES = 16;

/** The interrupts that reading this register clears. */
function clearedBy(offset: number): number | undefined {
  if (offset === CLEAR_ALL) return ~(RX.full | TX.empty);
  if (offset === CLEAR_RESTART) return CONDITION.restart;
  const bit = CLEARED[(offset - CLEAR_ALL) / 4 - 1];
  return bit === undefined ? undefined : 1 << bit;
}

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
  #abortSource = 0;
  /** After TX.abort the sending FIFO accepts nothing until the processor clears TX.abort. */
  #isFlushed = false;
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
    for (const [offset, value] of Object.entries(AT_RESET)) this.#registers.set(Number(offset), value);
    this.#latched = 0;
    this.#abortSource = 0;
    this.#isFlushed = false;
    this.#leave();
    this.#raise();
  }

  // The wire.

  start(): void {
    this.observer?.start();
    if (this.#addressed !== 'no') this.#latched |= CONDITION.restart;
    this.#latch(CONDITION.start);
  }

  /** Receives the address byte, which holds the read bit. Returns whether the target acknowledges. */
  address(byte: number): boolean {
    const matches = this.#isEnabled && (this.#value(SET.con) & TARGET_DISABLED) === 0;
    const isOurs = matches && byte >> 1 === (this.#value(SET.sar) & 0x7f);
    this.#addressed = !isOurs ? 'no' : byte & 1 ? 'read' : 'write';
    this.#isFirstByte = true;
    if (isOurs) this.#latched |= ACTIVITY;
    if (this.#addressed === 'read') {
      if (this.#toSend.length > 0) {
        this.#abortSource = (this.#toSend.length << 23) | FLUSHED_FOR_READ;
        this.#toSend.length = 0;
        this.#isFlushed = true;
        this.#latched |= TX.abort;
      }
      this.#latched |= READ_REQUEST;
    }
    this.#raise();
    return isOurs;
  }

  /** Receives a byte of a write. Returns whether the target acknowledges. */
  receive(byte: number): boolean {
    if (this.#addressed !== 'write') return false;
    if (this.#received.length < FIFO_BYTES) {
      this.observer?.byte(byte);
      this.#received.push(byte | (this.#isFirstByte ? FIRST_DATA_BYTE : 0));
    } else {
      this.#latched |= RX.over;
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
    const byte = this.#toSend.shift() ?? 0xff;
    this.#raise();
    return byte;
  }

  /** The host acknowledges the byte that it has read if it wants one more. */
  acknowledge(more: boolean): void {
    if (this.#addressed !== 'read') return;
    if (!more) this.#latch(RX.done);
    else if (this.#toSend.length === 0) this.#latch(READ_REQUEST);
  }

  stop(): void {
    this.observer?.stop();
    const always = (this.#value(SET.con) & STOP_IF_ADDRESSED) === 0;
    const counts = always || this.#addressed !== 'no';
    this.#addressed = 'no';
    if (counts) this.#latch(CONDITION.stop);
  }

  // The processor.

  override readUint32(offset: number): number {
    const clears = clearedBy(offset);
    if (clears !== undefined) {
      if (clears & CONDITIONS) this.observer?.taken();
      const had = (this.#latched & clears) !== 0 ? 1 : 0;
      this.#latched &= ~clears;
      if (clears & TX.abort) this.#isFlushed = false;
      this.#raise();
      return had;
    }
    switch (offset) {
      case DATA_CMD:
        return this.#taken();
      case SHOWN.stat:
        return this.#raw & this.#value(SET.mask);
      case SHOWN.raw:
        return this.#raw;
      case SHOWN.status:
        return this.#status;
      case SHOWN.txflr:
        return this.#toSend.length;
      case SHOWN.rxflr:
        return this.#received.length;
      case SHOWN.abort:
        return this.#abortSource;
      case SHOWN.enabled:
        return this.#isEnabled ? 1 : 0;
    }
    return this.#registers.get(offset) ?? super.readUint32(offset);
  }

  override writeUint32(offset: number, value: number): void {
    if (offset === DATA_CMD) this.#give(value & 0xff);
    else if (!this.#registers.has(offset)) super.writeUint32(offset, value);
    else if ((offset === SET.con || offset === SET.sar) && this.#isEnabled)
      this.warn('IC_CON and IC_SAR cannot be written while the block is enabled');
    else this.#registers.set(offset, value);
    if (offset === SET.enable && this.#isEnabled) this.observer?.enabled();
    else if (offset === SET.enable) this.#leave();
    this.#raise();
  }

  #leave(): void {
    this.#received.length = 0;
    this.#toSend.length = 0;
    this.#addressed = 'no';
  }

  #taken(): number {
    const byte = this.#received.shift();
    if (byte === undefined) this.#latched |= RX.under;
    this.#raise();
    return byte ?? 0;
  }

  #give(byte: number): void {
    if (this.#isFlushed || !this.#isEnabled) return;
    if (this.#toSend.length >= FIFO_BYTES) {
      this.#latched |= TX.over;
      return;
    }
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

  get #raw(): number {
    const full = this.#received.length > this.#value(SET.rxTl) ? RX.full : 0;
    const empty = this.#isEnabled && this.#toSend.length <= this.#value(SET.txTl) ? TX.empty : 0;
    return this.#latched | full | empty;
  }

  get #status(): number {
    const busy = this.#addressed === 'no' ? 0 : 0x41;
    const sending = (this.#toSend.length < FIFO_BYTES ? 2 : 0) | (this.#toSend.length === 0 ? 4 : 0);
    const full = this.#received.length >= FIFO_BYTES ? 16 : 0;
    return busy | sending | (this.#received.length > 0 ? 8 : 0) | full;
  }

  #latch(bits: number): void {
    this.#latched |= bits;
    this.#raise();
  }

  #raise(): void {
    this.rp2040.setInterrupt(this.#irq, (this.#raw & this.#value(SET.mask)) !== 0);
  }
}
