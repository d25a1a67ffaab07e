import type { RobotError } from '../core/errors.js';
import type { GpioChip } from '../hardware/gpio-chip.js';

export interface FileStatus {
  /** Permission bits and more, as in stat(2). */
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly modifiedMs: number;
  /** Device and inode identify the file, whatever its path. */
  readonly device: number;
  readonly inode: number;
}

export interface Output {
  readonly exitCode: number;
  readonly stdout: string;
}

/** Everything that the doctor reads. Failures are Node's errors with their `code`. */
export interface System {
  readonly nodeVersion: string;
  /** The supported versions of Node, such as `>=20.19 <25`. */
  readonly nodeRange: string;
  /** The build time of this program. */
  madeMs(): Promise<number>;
  readonly now: Date;
  /** The user of this process, with its groups. */
  readonly user: User;
  readFile(path: string): Promise<Buffer>;
  list(folder: string): Promise<readonly string[]>;
  stat(path: string): Promise<FileStatus>;
  freeBytes(folder: string): Promise<number>;
  run(command: string, ...args: readonly string[]): Promise<Output>;
  /** Undefined if there is no answer, or no JSON. */
  getJson(url: string): Promise<unknown>;
  /** The daemon's status from the socket for root; undefined without an answer. */
  boardStatus(): Promise<unknown>;
  /** Binds the port and releases it at once. */
  tryPort(host: string, port: number): Promise<void>;
  /** Writes, syncs and removes a small file. Resolves with the milliseconds of the sync. */
  trySync(folder: string): Promise<number>;
  /** Resolves with the error of loading the addon, or undefined if it loads. */
  addonProblem(name: 'i2c-bus' | 'onoff'): Promise<RobotError<'addon-missing'> | undefined>;
  headerChip(): Promise<GpioChip>;
  /** Reads one register. Writes nothing but the register's offset. */
  readBlock(bus: number, address: number, register: number, length: number): Promise<Buffer>;
}

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gids: readonly number[];
}
