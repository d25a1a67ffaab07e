import type { RobotError } from '../core/errors.js';
import type { GpioChip } from '../hardware/gpio-chip.js';

export interface FileStatus {
  /** Permission bits and more, as in stat(2). */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly modifiedMs: number;
  /** Device and inode: the same for every path to the file. */
  readonly device: number;
  readonly inode: number;
}

export interface Output {
  readonly exitCode: number;
  readonly stdout: string;
}

/** Everything that doctor looks at. Failures are those of Node, with their `code`. */
export interface System {
  readonly nodeVersion: string;
  /** The versions of Node that this installation runs with, as in `>=20.19 <25`. */
  readonly nodeRange: string;
  /** When this program was made. */
  madeMs(): Promise<number>;
  readonly now: Date;
  /** The user of this process, with its groups. */
  readonly user: User;
  readFile(path: string): Promise<Buffer>;
  list(folder: string): Promise<readonly string[]>;
  stat(path: string): Promise<FileStatus>;
  freeBytes(folder: string): Promise<number>;
  run(command: string, ...args: readonly string[]): Promise<Output>;
  /** Undefined when nobody answers, or not with JSON. */
  getJson(url: string): Promise<unknown>;
  /** The daemon's status from the board itself, for root alone; undefined when nobody answers, or not root. */
  boardStatus(): Promise<unknown>;
  /** Binds and lets go at once. */
  tryPort(host: string, port: number): Promise<void>;
  /** Writes a small file, syncs it to the medium and removes it; resolves with the milliseconds of the sync. */
  trySync(folder: string): Promise<number>;
  /** Resolves with the error with which the addon does not load, or with undefined where it loads. */
  addonProblem(name: 'i2c-bus' | 'onoff'): Promise<RobotError<'addon-missing'> | undefined>;
  headerChip(): Promise<GpioChip>;
  /** One read; nothing is written but the register's offset. */
  readBlock(bus: number, address: number, register: number, length: number): Promise<Buffer>;
}

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gids: readonly number[];
}
