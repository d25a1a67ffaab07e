import { execFileSync, spawnSync } from 'node:child_process';
import type { Context } from 'mocha';

/** A small disk of its own at this folder, until it is taken away. Only root has such: without, the test is skipped. */
export function mountDisk(
  context: Context,
  folder: string,
): { readOnly(): void; writable(): void; remove(): void } {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]);
  if (status !== 0) {
    console.log(`      skipped, no disk can be mounted here: ${String(stderr ?? '').trim()}`);
    context.skip();
  }
  const umount = () => execFileSync('umount', ['--lazy', folder]);
  return {
    // Over itself: a disk on which files are open for writing does not become read-only as a whole.
    readOnly: () => {
      execFileSync('mount', ['--bind', folder, folder]);
      execFileSync('mount', ['-o', 'remount,ro,bind', folder]);
    },
    writable: umount,
    remove: umount,
  };
}
