import { BasePeripheral, type RP2040 } from 'rp2040js';

/**
 * The RP2040's I2C block (DW_apb_i2c) as a target, which rp2040js lacks. Facts: section 4.3 of the RP2040 datasheet. The host
 * calls the methods of "the wire"; the processor reads and writes registers.
 */

const IC_CON = 0x00;
const IC_SAR = 0x08;
const IC_DATA_CMD = 0x10;
const IC_INTR_STAT = 0x2c;
const IC_INTR_MASK = 0x30;
const IC_RAW_INTR_STAT = 0x34;
const IC_RX_TL = 0x38;
const IC_TX_TL = 0x3c;
const IC_CLR_INTR = 0x40;
const IC_CLR_TX_ABRT = 0x54;
const IC_ENABLE = 0x6c;
const IC_STATUS = 0x70;
const IC_TXFLR = 0x74;
const IC_RXFLR = 0x78;
const IC_SDA_HOLD = 0x7c;
const IC_TX_ABRT_SOURCE = 0x80;
const IC_SDA_SETUP = 0x94;
const IC_ACK_GENERAL_CALL = 0x98;
const IC_ENABLE_STATUS = 0x9c;

const RX_UNDER = 1 << 0;
const RX_OVER = 1 << 1;
const RX_FULL = 1 << 2;
const TX_OVER = 1 << 3;
const TX_EMPTY = 1 << 4;
const RD_REQ = 1 << 5;
const TX_ABRT = 1 << 6;
const RX_DONE = 1 << 7;
const ACTIVITY = 1 << 8;
const STOP_DET = 1 << 9;
const START_DET = 1 << 10;
const GEN_CALL = 1 << 11;
const RESTART_DET = 1 << 12;

/** Reading a register clears these bits. */
const CLEARED_BY: Readonly<Record<number, number>> = {
  [IC_CLR_INTR]: ~(RX_FULL | TX_EMPTY),
  68: RX_UNDER,
  72: RX_OVER,
  76: TX_OVER,
  80: RD_REQ,
  [IC_CLR_TX_ABRT]: TX_ABRT,
  88: RX_DONE,
  92: ACTIVITY,
  96: STOP_DET,
  100: START_DET,
  104: GEN_CALL,
  168: RESTART_DET,
};

const SLAVE_DISABLE = 1 << 6;
const STOP_DET_IF_ADDRESSED = 1 << 7;
const RX_FULL_HOLDS = 1 << 9;
const FIRST_DATA_BYTE = 1 << 11;
const ABRT_SLVFLUSH_TXFIFO = 1 << 13;
const FIFO_BYTES = 16;

/** Registers without behaviour, with their values after a reset. */
const AT_RESET: readonly (readonly [offset: number, value: number])[] = [
  [IC_CON, 0x65],
  [IC_SAR, 0x55],
  [IC_INTR_MASK, 0x8ff],
  [IC_RX_TL, 0],
  [IC_TX_TL, 0],
  [IC_ENABLE, 0],
  [IC_SDA_HOLD, 1],
  [IC_SDA_SETUP, 0x64],
  [IC_ACK_GENERAL_CALL, 1],
];

/** Sees the bus as the target does. */
export interface Observer {
  /** The processor has started the block. */
  enabled(): void;
  start(): void;
  byte(byte: number): void;
  stop(): void;
  /** The processor has taken what came until now. */
  taken(): void;
  /** The processor has given a byte, which is sent next. */
  given(byte: number): void;
}

export class I2cTarget extends BasePeripheral {
  readonly #irq: number;
  readonly #registers = new Map(AT_RESET);
  readonly #received: number[] = [];
  readonly #toSend: number[] = [];
  #latched = 0;
  #abortSource = 0;
  /** After TX_ABRT the FIFO takes nothing until the processor clears it. */
  #isFlushed = false;
  #isFirstByte = false;
  #addressed: 'no' | 'write' | 'read' = 'no';
  #releasedNs = 0;
  observer: Observer | undefined;

  constructor(rp2040: RP2040, name: string, irq: number) {
    super(rp2040, name);
    this.#irq = irq;
  }

  /** The block is reset. */
  reset(): void {
    for (const [offset, value] of AT_RESET) this.#registers.set(offset, value);
    this.#latched = 0;
    this.#abortSource = 0;
    this.#isFlushed = false;
    this.#leave();
    this.#raise();
  }

  // The wire.

  start(): void {
    this.observer?.start();
    if (this.#addressed !== 'no') this.#latched |= RESTART_DET;
    this.#latch(START_DET);
  }

  /** The address with its read bit. Returns whether the target acknowledges. */
  address(byte: number): boolean {
    const matches = this.#isEnabled && (this.#value(IC_CON) & SLAVE_DISABLE) === 0;
    const isOurs = matches && byte >> 1 === (this.#value(IC_SAR) & 0x7f);
    this.#addressed = !isOurs ? 'no' : byte & 1 ? 'read' : 'write';
    this.#isFirstByte = true;
    if (isOurs) this.#latched |= ACTIVITY;
    if (this.#addressed === 'read') {
      if (this.#toSend.length > 0) {
        this.#abortSource = (this.#toSend.length << 23) | ABRT_SLVFLUSH_TXFIFO;
        this.#toSend.length = 0;
        this.#isFlushed = true;
        this.#latched |= TX_ABRT;
      }
      this.#latched |= RD_REQ;
    }
    this.#raise();
    return isOurs;
  }

  /** A byte of a write. Returns whether the target acknowledges. */
  receive(byte: number): boolean {
    if (this.#addressed !== 'write') return false;
    if (this.#received.length < FIFO_BYTES) {
      this.observer?.byte(byte);
      this.#received.push(byte | (this.#isFirstByte ? FIRST_DATA_BYTE : 0));
    } else {
      this.#latched |= RX_OVER;
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
    const waits = (this.#value(IC_CON) & RX_FULL_HOLDS) !== 0 && this.#received.length >= FIFO_BYTES;
    return this.#addressed === 'write' && waits;
  }

  get isAddressed(): boolean {
    return this.#addressed !== 'no';
  }

  /** The byte of a read. Without one, SDA stays high. */
  send(): number {
    const byte = this.#toSend.shift() ?? 0xff;
    this.#raise();
    return byte;
  }

  /** The host's acknowledge of a byte that it has read. */
  acknowledge(more: boolean): void {
    if (this.#addressed !== 'read') return;
    if (!more) this.#latch(RX_DONE);
    else if (this.#toSend.length === 0) this.#latch(RD_REQ);
  }

  stop(): void {
    this.observer?.stop();
    const always = (this.#value(IC_CON) & STOP_DET_IF_ADDRESSED) === 0;
    const counts = always || this.#addressed !== 'no';
    this.#addressed = 'no';
    if (counts) this.#latch(STOP_DET);
  }

  // The processor.

  override readUint32(offset: number): number {
    const clears = CLEARED_BY[offset];
    if (clears !== undefined) {
      if (clears & (STOP_DET | START_DET | RESTART_DET)) this.observer?.taken();
      const had = (this.#latched & clears) !== 0 ? 1 : 0;
      this.#latched &= ~clears;
      if (clears & TX_ABRT) this.#isFlushed = false;
      this.#raise();
      return had;
    }
    switch (offset) {
      case IC_DATA_CMD:
        return this.#taken();
      case IC_INTR_STAT:
        return this.#raw & this.#value(IC_INTR_MASK);
      case IC_RAW_INTR_STAT:
        return this.#raw;
      case IC_STATUS:
        return this.#status;
      case IC_TXFLR:
        return this.#toSend.length;
      case IC_RXFLR:
        return this.#received.length;
      case IC_TX_ABRT_SOURCE:
        return this.#abortSource;
      case IC_ENABLE_STATUS:
        return this.#isEnabled ? 1 : 0;
    }
    return this.#registers.get(offset) ?? super.readUint32(offset);
  }

  override writeUint32(offset: number, value: number): void {
    if (offset === IC_DATA_CMD) this.#give(value & 0xff);
    else if (!this.#registers.has(offset)) super.writeUint32(offset, value);
    else if ((offset === IC_CON || offset === IC_SAR) && this.#isEnabled)
      this.warn('IC_CON and IC_SAR cannot be written while the block is enabled');
    else this.#registers.set(offset, value);
    if (offset === IC_ENABLE && this.#isEnabled) this.observer?.enabled();
    else if (offset === IC_ENABLE) this.#leave();
    this.#raise();
  }

  #leave(): void {
    this.#received.length = 0;
    this.#toSend.length = 0;
    this.#addressed = 'no';
  }

  #taken(): number {
    const byte = this.#received.shift();
    if (byte === undefined) this.#latched |= RX_UNDER;
    this.#raise();
    return byte ?? 0;
  }

  #give(byte: number): void {
    if (this.#isFlushed || !this.#isEnabled) return;
    if (this.#toSend.length >= FIFO_BYTES) {
      this.#latched |= TX_OVER;
      return;
    }
    if (this.holds) {
      const setup = (this.#value(IC_SDA_SETUP) - 1) / this.rp2040.clkSys;
      this.#releasedNs = this.rp2040.clock.nanos + 1e9 * setup;
    }
    this.observer?.given(byte);
    this.#toSend.push(byte);
  }

  #value(offset: number): number {
    return this.#registers.get(offset) ?? 0;
  }

  get #isEnabled(): boolean {
    return (this.#value(IC_ENABLE) & 1) !== 0;
  }

  get #raw(): number {
    const full = this.#received.length > this.#value(IC_RX_TL) ? RX_FULL : 0;
    const empty = this.#isEnabled && this.#toSend.length <= this.#value(IC_TX_TL) ? TX_EMPTY : 0;
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
    this.rp2040.setInterrupt(this.#irq, (this.#raw & this.#value(IC_INTR_MASK)) !== 0);
  }
}
