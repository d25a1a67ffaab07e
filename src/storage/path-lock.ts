import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { errnoOf, RobotError } from '../core/errors.js';
import { attempt } from './disk.js';

/** Keeps other processes out of something. */
export interface ProcessLock {
  /**
   * Takes it, or sees that it is still ours at its path. Rejects where another process has it, with `state-in-use` for the
   * state folder, and with `storage-failed` where it cannot be locked.
   */
  hold(): Promise<void>;
  release(): Promise<void>;
}

/** The flag of `open` that takes the lock by itself on macOS and the BSDs. Node does not export it. */
const O_EXLOCK = 0x20;

/**
 * A flock(2) on a folder or a device itself. The kernel gives it up with the process that has it, however that ends, so
 * that a killed daemon is no obstacle. It holds in every mount and network namespace that shows the path, on a read-only
 * disk too, and leaves no file behind.
 */
export class PathLock implements ProcessLock {
  readonly #path: string;
  readonly #taken: () => RobotError;
  #held: FileHandle | undefined;

  /** `taken` makes the error that is thrown where another process has the lock. */
  constructor(
    path: string,
    taken: () => RobotError = () => new RobotError('state-in-use', { folder: path }),
  ) {
    this.#path = path;
    this.#taken = taken;
  }

  async hold(): Promise<void> {
    if (this.#held !== undefined && (await this.#isAtItsPath(this.#held))) return;
    await this.release();
    this.#held = await (process.platform === 'linux' ? this.#lockedByFlock() : this.#lockedByOpen());
  }

  async release(): Promise<void> {
    await this.#held?.close();
    this.#held = undefined;
  }

  /** Whether the path still leads to what is locked, because a folder that was moved takes the lock with it. */
  async #isAtItsPath(held: FileHandle): Promise<boolean> {
    const [ours, found] = await attempt('lock', this.#path, () =>
      Promise.all([held.stat({ bigint: true }), stat(this.#path, { bigint: true })]),
    );
    return ours.dev === found.dev && ours.ino === found.ino;
  }

  /** Node has no flock: the program of that name locks what it inherits, which stays locked for as long as we have it open. */
  async #lockedByFlock(): Promise<FileHandle> {
    const file = await attempt('lock', this.#path, () => open(this.#path, 'r'));
    try {
      const exitCode = await this.#flock(file.fd);
      if (exitCode === 0) return file;
      throw exitCode === 1 ? this.#taken() : this.#failed(`flock ${exitCode}`);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  #flock(descriptor: number): Promise<number | null> {
    return new Promise((resolve, reject) => {
      const flock = spawn('flock', ['-n', '-x', '3'], { stdio: ['ignore', 'ignore', 'ignore', descriptor] });
      flock.once('error', error => reject(this.#failed(errnoOf(error), error)));
      flock.once('close', resolve);
    });
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
