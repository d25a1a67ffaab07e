import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, type Stats } from 'node:fs';
import { type FileHandle, open, readFile, stat } from 'node:fs/promises';
import { errnoOf, isRobotError, RobotError } from '../core/errors.js';
import { attempt, leadsTo } from './disk.js';

/** A lock against other processes. */
export type ProcessLock = Pick<PathLock, 'hold' | 'release'>;

/** Whether a process has locked one of these paths. False if that cannot be found out. */
export async function isAnyLocked(paths: readonly string[]): Promise<boolean> {
  const locks = await readFile('/proc/locks', 'utf8').catch(() => '');
  const files = await Promise.all(paths.map(path => stat(path).catch(() => undefined)));
  return files.some(file => file !== undefined && isLockedIn(locks, file));
}

/** Whether the text of /proc/locks has a lock on the file. */
export function isLockedIn(locks: string | Buffer, { dev, ino }: Pick<Stats, 'dev' | 'ino'>): boolean {
  const [major, minor] = [(dev >>> 8) & 0xfff, (dev & 0xff) | ((dev >>> 12) & 0xfff00)].map(part =>
    part.toString(16).padStart(2, '0'),
  );
  return locks.includes(` ${major}:${minor}:${ino} `);
}

/** The flag of `open` that takes a lock on macOS and the BSDs. Node does not export it. */
const O_EXLOCK = 0x20;

/**
 * A flock(2) on a folder or a device. The kernel releases it when the process ends, even if it is killed. It works
 * across namespaces and on read-only disks, and leaves no file behind.
 */
export class PathLock {
  readonly #path: string;
  readonly #taken: () => RobotError;
  #held: FileHandle | undefined;

  /** `taken` makes the error for a lock that another process has. */
  constructor(path: string, taken = (): RobotError => new RobotError('state-in-use', { folder: path })) {
    this.#path = path;
    this.#taken = taken;
  }

  /**
   * Takes the lock, or checks that it is still held at its path. If another process has the lock, rejects (for the
   * state folder with `state-in-use`). Rejects with `storage-failed` if locking fails.
   */
  async hold(): Promise<void> {
    const held = this.#held;
    if (held !== undefined && (await attempt('lock', this.#path, () => leadsTo(this.#path, held)))) return;
    // If the folder was moved, its lock is kept until the folder at the path is locked.
    this.#held = await (process.platform === 'linux' ? this.#lockedByFlock() : this.#lockedByOpen());
    await held?.close();
  }

  async release(): Promise<void> {
    await this.#held?.close();
    this.#held = undefined;
  }

  /**
   * Node has no flock(2). The program flock locks the descriptor that it inherits. The lock lasts while this
   * process keeps the descriptor open.
   */
  async #lockedByFlock(): Promise<FileHandle> {
    const file = await attempt('lock', this.#path, () => open(this.#path, 'r'));
    try {
      const flock = spawn('flock', ['-n', '-x', '3'], { stdio: ['ignore', 'ignore', 'ignore', file.fd] });
      const [exitCode] = await once(flock, 'close');
      if (exitCode === 0) return file;
      throw exitCode === 1 ? this.#taken() : this.#failed(`flock ${exitCode}`);
    } catch (error) {
      await file.close();
      throw isRobotError(error) ? error : this.#failed(errnoOf(error), error);
    }
  }

  async #lockedByOpen(): Promise<FileHandle> {
    const { O_RDONLY, O_NONBLOCK } = constants;
    try {
      return await open(this.#path, O_RDONLY | O_NONBLOCK | O_EXLOCK);
    } catch (error) {
      throw errnoOf(error) === 'EAGAIN' ? this.#taken() : this.#failed(errnoOf(error), error);
    }
  }

  #failed(errno: string | undefined, cause?: unknown): RobotError<'storage-failed'> {
    const isInstalled = errno !== 'ENOENT';
    const cure = isInstalled
      ? 'Keep the state folder on a disk of this machine.'
      : 'Install the program flock: sudo apt install util-linux.';
    return new RobotError('storage-failed', { operation: 'lock', path: this.#path, errno, cure }, { cause });
  }
}
