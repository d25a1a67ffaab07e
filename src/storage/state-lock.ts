import { spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import { errnoOf, RobotError } from '../core/errors.js';
import { attempt } from './disk.js';

/** One process per state folder. */
export interface StateLock {
  /**
   * Takes the folder, or sees that it is still ours at its path. Rejects with `state-in-use` where another process has
   * it, else with `storage-failed`.
   */
  hold(): Promise<void>;
  release(): Promise<void>;
}

/** Not among Node's constants: on macOS and the BSDs `open` takes the lock by itself. */
const O_EXLOCK = 0x20;

/**
 * A flock(2) on the folder itself. The kernel gives it up with the process that has it, however that ends, so that a
 * killed daemon is no obstacle. It holds in every mount and network namespace that shows the folder, on a read-only disk
 * too, and leaves no file behind.
 */
export class FolderLock implements StateLock {
  readonly #folder: string;
  #held: FileHandle | undefined;

  constructor(folder: string) {
    this.#folder = folder;
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

  /** A folder that was moved takes the lock with it. */
  async #isAtItsPath(held: FileHandle): Promise<boolean> {
    const [ours, found] = await attempt('lock', this.#folder, () =>
      Promise.all([held.stat({ bigint: true }), stat(this.#folder, { bigint: true })]),
    );
    return ours.dev === found.dev && ours.ino === found.ino;
  }

  /** Node has no flock: the program of that name locks what it inherits, which stays locked for as long as we have it open. */
  async #lockedByFlock(): Promise<FileHandle> {
    const folder = await attempt('lock', this.#folder, () => open(this.#folder, 'r'));
    try {
      const exitCode = await this.#flock(folder.fd);
      if (exitCode === 0) return folder;
      throw exitCode === 1 ? this.#inUse() : this.#failed(`flock ${exitCode}`);
    } catch (error) {
      await folder.close();
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
      return await open(this.#folder, O_RDONLY | O_NONBLOCK | O_EXLOCK);
    } catch (error) {
      throw errnoOf(error) === 'EAGAIN' ? this.#inUse() : this.#failed(errnoOf(error), error);
    }
  }

  #inUse(): RobotError<'state-in-use'> {
    return new RobotError('state-in-use', { folder: this.#folder });
  }

  #failed(errno: string | undefined, cause?: unknown): RobotError<'storage-failed'> {
    const isInstalled = errno !== 'ENOENT';
    const cure = isInstalled
      ? 'Keep the state folder on a disk of this machine.'
      : 'Install the program flock: sudo apt install util-linux.';
    return new RobotError(
      'storage-failed',
      { operation: 'lock', path: this.#folder, errno, cure },
      { cause },
    );
  }
}
