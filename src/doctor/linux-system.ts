import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { open, readdir, readFile, stat, statfs, unlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { boardStatusAt, RUNTIME_FOLDER, rootSocket } from '../access/root-socket.js';
import { RobotError, valueOr } from '../core/errors.js';
import { nodeRange } from '../core/version.js';
import { loadGpio, loadI2c } from '../hardware/addon.js';
import { type GpioChip, headerChip } from '../hardware/gpio-chip.js';
import { LinuxI2cBus } from '../hardware/i2c.js';
import { GPIO_ROOT } from '../hardware/linux-hardware.js';

const ANSWER_MS = 2000;

export interface User {
  readonly name: string;
  readonly uid: number;
  readonly gids: readonly number[];
}

export type FileStatus = Pick<Stats, 'mode' | 'uid' | 'gid' | 'dev' | 'ino'>;

/** Everything that the doctor reads. Failures are Node's errors with their `code`. */
export type System = typeof linuxSystem;

export const linuxSystem = {
  nodeVersion: process.versions.node,
  /** The supported versions of Node, such as `>=20.19 <25`. */
  nodeRange,
  /** The build time of this program. */
  madeMs: async () => (await stat(new URL('../main.js', import.meta.url))).mtimeMs,
  get now(): Date {
    return new Date();
  },
  /** The user of this process, with its groups. */
  get user(): User {
    const uid = process.getuid?.() ?? 0;
    // A user who is not in the list of users has no name, as in a container.
    const name = valueOr(() => userInfo().username, String(uid));
    return { name, uid, gids: process.getgroups?.() ?? [] };
  },
  readFile: (path: string): Promise<Buffer> => readFile(path),
  list: (folder: string): Promise<readonly string[]> => readdir(folder),
  stat: (path: string): Promise<FileStatus> => stat(path),
  freeBytes: async (folder: string) => {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
  /** Runs a program. Resolves with its output. Rejects if it fails. */
  run: async (command: string, ...args: readonly string[]) => {
    const env = { ...process.env, LC_ALL: 'C' };
    return (await promisify(execFile)(command, args, { timeout: ANSWER_MS, env })).stdout;
  },
  /** Resolves with the JSON. Undefined if there is no answer, or if it is not JSON. */
  getJson: async (url: string): Promise<unknown> =>
    fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })
      .then(answer => answer.json())
      .catch(() => undefined),
  /** The daemon's status from the socket for root; undefined without an answer. */
  boardStatus: (socket = rootSocket(RUNTIME_FOLDER)): Promise<unknown> => boardStatusAt(socket),
  /** Binds the port and releases it at once. */
  tryPort: async (host: string, port: number): Promise<void> => {
    const server = createServer().listen(port, host);
    await once(server, 'listening');
    await new Promise(resolve => server.close(resolve));
  },
  /** Writes, syncs and removes a small file. Resolves with the duration of the sync in milliseconds. */
  trySync: async (folder: string) => {
    const path = join(folder, `.doctor-${process.pid}`);
    const file = await open(path, 'wx', 0o600);
    try {
      await file.write('doctor');
      const startedMs = performance.now();
      await file.sync();
      return performance.now() - startedMs;
    } finally {
      await file.close();
      await unlink(path);
    }
  },
  /** Resolves with the error of loading the addon, or undefined if it loads. */
  addonProblem: async (name: 'i2c-bus' | 'onoff'): Promise<RobotError<'addon-missing'> | undefined> => {
    const addon: object = await (name === 'onoff' ? loadGpio() : loadI2c());
    return addon instanceof RobotError ? addon : undefined;
  },
  headerChip: (): Promise<GpioChip> => headerChip(GPIO_ROOT),
  /** Reads one register. Writes nothing but the register's offset. */
  readBlock: async (bus: number, address: number, register: number, length: number) => {
    const opened = new LinuxI2cBus(await loadI2c(), bus);
    return opened.readBlock(address, register, length).finally(() => opened.close());
  },
};
