import type { Missing } from '../core/errors.js';

/**
 * The hardware as Trunnion sees it. These are interfaces only; adapters and fakes implement them, and everything above
 * uses them.
 */

/**
 * One I2C bus. Each call is one SMBus I2C-block transaction of at most 32 data bytes. It settles when the kernel call
 * does, however long that takes. Failures are RobotErrors with the bus codes. Callers keep only one call in flight.
 */
export interface I2cBus {
  /** `address` is the 7-bit address, `register` the byte offset, `length` 1 to 32. */
  readBlock(address: number, register: number, length: number): Promise<Buffer>;
  writeBlock(address: number, register: number, data: Buffer): Promise<void>;
}

/**
 * The laser's pin; `true` is light. It is synchronous so that the laser waits for nothing. Throws RobotError
 * `pin-failed`.
 */
export interface OutputPin {
  write(on: boolean): void;
  read(): boolean;
}

/** A safety contact that must be closed for the laser to be lit. */
export interface Interlock {
  /** Throws RobotError `pin-failed`, which counts as open. */
  isClosed(): boolean;
  /** Adds a listener, which is called as soon as the kernel reports that the contact opened. */
  onOpen(listener: () => void): void;
}

export interface Hardware {
  readonly simulated: boolean;
  readonly bus: I2cBus;
  readonly laser: OutputPin | Missing;
  readonly interlock?: Interlock;
  /** Releases devices. The laser's pin keeps its level. Later calls fail with `bus-closed`. */
  close(): Promise<void>;
}

export function isMissing(part: object): part is Missing {
  return 'missing' in part;
}
