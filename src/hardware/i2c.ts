import { promisify } from 'node:util';
import { type ErrorCode, isRobotError, RobotError } from '../core/errors.js';
import { WorkQueue } from '../core/work-queue.js';
import type { ProcessLock } from '../storage/path-lock.js';
import type { I2cBus } from './ports.js';

/** The part of the addon i2c-bus that is used here. */
export interface I2cNative {
  openSync(bus: number): NativeBus;
}

export interface NativeBus {
  readI2cBlock(address: number, register: number, length: number, into: Buffer, done: ReadDone): void;
  writeI2cBlock(address: number, register: number, length: number, data: Buffer, done: WriteDone): void;
  closeSync(): void;
}

type ReadDone = (error: unknown, bytes: number) => void;
type WriteDone = (error: unknown) => void;

interface Failure {
  readonly code: ErrorCode;
  readonly cure?: string;
}

const unavailable = (cure: string): Failure => ({ code: 'bus-unavailable', cure });
const NO_BUS = unavailable(
  'Switch I2C on: sudo raspi-config nonint do_i2c 0; "trunnion doctor" shows which buses there are.',
);
const NO_ACCESS = unavailable(
  "Give the daemon's user access: sudo usermod -aG i2c USER, and start it again.",
);
const ADDRESS_TAKEN = unavailable(
  'A kernel driver holds the address: remove its dtoverlay from /boot/firmware/config.txt and reboot.',
);

/** The meaning of Linux's bus errors, by errno. The error's code is often empty, and messages change. */
const FAILURES: Readonly<Record<number, Failure>> = {
  1: NO_ACCESS, // EPERM
  2: NO_BUS, // ENOENT
  5: { code: 'bus-io' }, // EIO: clock stretched too long, or a short transfer
  6: { code: 'nack' }, // ENXIO
  11: { code: 'arbitration-lost' }, // EAGAIN
  13: NO_ACCESS, // EACCES
  16: ADDRESS_TAKEN, // EBUSY
  19: NO_BUS, // ENODEV
  110: { code: 'bus-timeout' }, // ETIMEDOUT
  121: { code: 'nack' }, // EREMOTEIO
};

/** The system calls of a transaction. An error of another call means that the device was not reached. */
const TRANSACTIONS: readonly unknown[] = ['readI2cBlock', 'writeI2cBlock'];

/**
 * The bus /dev/i2c-N. It is opened at the first call, and again at the next call after it disappeared. Calls run one
 * at a time. Reason: i2c-bus caches one descriptor for each address before it sets the address. If the first access
 * to an address fails, or runs beside another call, that descriptor may talk to another address.
 */
export class LinuxI2cBus implements I2cBus {
  readonly #native: I2cNative | RobotError;
  readonly #number: number;
  readonly #lock: ProcessLock | undefined;
  #opened: NativeBus | undefined;
  readonly #queue = new WorkQueue();
  #closed = false;

  /**
   * `native` may be the error that explains why there is no bus. Then every call fails with it. The lock keeps the bus
   * for this process: two daemons on one bus would each give the controllers their own gains.
   */
  constructor(native: I2cNative | RobotError, number: number, lock?: ProcessLock) {
    this.#native = native;
    this.#number = number;
    this.#lock = lock;
  }

  /** Opens the bus and sends nothing on it. Rejects with the bus codes. */
  async open(): Promise<void> {
    await this.#inTurn(async () => undefined);
  }

  async readBlock(address: number, register: number, length: number): Promise<Buffer> {
    const block = Buffer.alloc(length);
    const bytes = await this.#inTurn(bus =>
      promisify(bus.readI2cBlock.bind(bus))(address, register, length, block),
    );
    if (bytes === length) return block;
    throw new RobotError('bus-io', { bus: this.#number, address, register, asked: length, read: bytes });
  }

  writeBlock(address: number, register: number, data: Buffer): Promise<void> {
    return this.#inTurn(bus => promisify(bus.writeI2cBlock.bind(bus))(address, register, data.length, data));
  }

  /** Closes after the call in flight. Otherwise the kernel could use the descriptor when it belongs to another file. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue.add(async () => undefined);
    this.#release();
    await this.#lock?.release();
  }

  #inTurn<T>(transaction: (bus: NativeBus) => Promise<T>): Promise<T> {
    return this.#queue.add(() => this.#alone(transaction));
  }

  async #alone<T>(transaction: (bus: NativeBus) => Promise<T>): Promise<T> {
    if (this.#closed) throw new RobotError('bus-closed', { bus: this.#number });
    if (this.#native instanceof RobotError) throw this.#native;
    try {
      return await transaction(this.#opened ?? (await this.#openDevice(this.#native)));
    } catch (error) {
      const failure = isRobotError(error) ? error : busError(error, this.#number);
      if (failure.code === 'bus-unavailable' || !isOfTransaction(error)) this.#release();
      throw failure;
    }
  }

  /**
   * Opens and locks the device. If the lock cannot be taken, the device is used without it, unless another
   * process holds it.
   */
  async #openDevice(native: I2cNative): Promise<NativeBus> {
    const opened = native.openSync(this.#number);
    this.#opened = opened;
    await this.#lock?.hold().catch((error: unknown) => {
      if (isRobotError(error, 'bus-in-use')) throw error;
    });
    return opened;
  }

  #release(): void {
    this.#opened?.closeSync();
    this.#opened = undefined;
  }
}

/**
 * Turns an error into a RobotError with a bus code. Block calls have a positive errno, calls of fs a negative
 * one.
 */
function busError(error: unknown, bus: number): RobotError {
  const given = error instanceof Error && 'errno' in error ? error.errno : undefined;
  const errno = typeof given === 'number' ? Math.abs(given) : undefined;
  const { code, cure } = FAILURES[errno ?? 0] ?? { code: 'bus-failed' };
  return new RobotError(code, { bus, errno, cure }, { cause: error });
}

function isOfTransaction(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error && TRANSACTIONS.includes(error.syscall);
}
