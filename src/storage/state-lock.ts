import { stat, unlink } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { platform } from 'node:os';
import { join } from 'node:path';
import { RobotError } from '../core/errors.js';
import { attempt } from './disk.js';

export interface StateLock {
  release(): Promise<void>;
}

/**
 * One process per state folder. The lock is a socket that the kernel closes with its process, so that a killed daemon
 * leaves no obstacle. On Linux it is an abstract one, named by the folder's identity: it has no file at all.
 * Rejects with `state-in-use` where another process has it, else with `storage-failed`.
 */
export async function lockState(folder: string): Promise<StateLock> {
  const { dev, ino } = await attempt('lock', folder, () => stat(folder));
  const isLinux = platform() === 'linux';
  const path = isLinux ? `\0trunnion-state-${dev}-${ino}` : join(folder, 'lock');
  if (!isLinux) await removeDeadSocket(path, folder);
  const server = await listen(path, folder);
  server.unref();
  return { release: () => new Promise(resolve => server.close(() => resolve())) };
}

function listen(path: string, folder: string): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(socket => socket.destroy());
    server.on('error', (error: NodeJS.ErrnoException) => {
      const { code } = error;
      const context = { operation: 'lock', path: folder, errno: code, cure: 'Restart the daemon.' };
      reject(
        code === 'EADDRINUSE'
          ? new RobotError('state-in-use', { folder }, { cause: error })
          : new RobotError('storage-failed', context, { cause: error }),
      );
    });
    server.listen(path, () => resolve(server));
  });
}

function removeDeadSocket(path: string, folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const probe = connect(path);
    probe.once('connect', () => {
      probe.destroy();
      reject(new RobotError('state-in-use', { folder }));
    });
    probe.once('error', () => {
      unlink(path)
        .catch(() => undefined)
        .then(resolve);
    });
  });
}
