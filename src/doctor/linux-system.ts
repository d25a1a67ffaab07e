import { execFile } from 'node:child_process';
import { open, readdir, readFile, stat, statfs, unlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { BREAK_GLASS_LOOK, breakGlassPath, RUNTIME_FOLDER } from '../access/break-glass.js';
import { askBreakGlass } from '../access/break-glass-client.js';
import { RobotError } from '../core/errors.js';
import { nodeRange } from '../core/version.js';
import { loadGpio, loadI2c } from '../hardware/addon.js';
import { headerChip } from '../hardware/gpio-chip.js';
import { LinuxI2cBus } from '../hardware/i2c.js';
import { GPIO_ROOT } from '../hardware/linux-hardware.js';
import type { Output, System } from './system.js';

const ANSWER_MS = 2000;

export const linuxSystem: System = {
  nodeVersion: process.versions.node,
  nodeRange,
  madeMs: async () => (await stat(new URL('../main.js', import.meta.url))).mtimeMs,
  get now() {
    return new Date();
  },
  get user() {
    const { username, uid } = userInfo();
    return { name: username, uid, gids: process.getgroups?.() ?? [] };
  },
  readFile: path => readFile(path),
  list: folder => readdir(folder),
  stat: async path => {
    const { mode, uid, gid, mtimeMs, dev, ino } = await stat(path);
    return { mode, uid, gid, modifiedMs: mtimeMs, device: dev, inode: ino };
  },
  freeBytes: async folder => {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  },
  run: (command, ...args) =>
    new Promise<Output>((resolve, reject) => {
      const env = { ...process.env, LC_ALL: 'C' };
      execFile(command, args, { timeout: ANSWER_MS, env }, (error, stdout) => {
        if (error === null) resolve({ exitCode: 0, stdout });
        else if (typeof error.code === 'number') resolve({ exitCode: error.code, stdout });
        else reject(error);
      });
    }),
  getJson: async url => {
    try {
      return await (await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS) })).json();
    } catch {
      return undefined;
    }
  },
  boardStatus: () => askBreakGlass(breakGlassPath(RUNTIME_FOLDER), BREAK_GLASS_LOOK).catch(() => undefined),
  tryPort: (host, port) =>
    new Promise((resolve, reject) => {
      const server = createServer();
      server.once('error', reject);
      server.listen(port, host, () => server.close(() => resolve()));
    }),
  trySync: async folder => {
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
  addonProblem: async name => {
    const addon: object = await (name === 'onoff' ? loadGpio() : loadI2c());
    return addon instanceof RobotError ? addon : undefined;
  },
  headerChip: () => headerChip(GPIO_ROOT),
  readBlock: async (bus, address, register, length) => {
    const opened = new LinuxI2cBus(await loadI2c(), bus);
    try {
      return await opened.readBlock(address, register, length);
    } finally {
      await opened.close();
    }
  },
};
