import { execFileSync, spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import type { Context } from 'mocha';
import { skip } from './programs.js';

/** Mounts a separate disk at this folder. It can be made to hang. Skips the test unless root runs it. */
export function mountHangingDisk(
  context: Context,
  folder: string,
): { hang(): void; goOn(): void; remove(): void } {
  const image = `${folder}.img`;
  const made = [
    ['dd', 'if=/dev/zero', `of=${image}`, 'bs=1M', 'count=8'],
    ['mkfs.ext4', '-q', '-F', image],
    ['mount', '-o', 'loop', image, folder],
  ].every(([program = '', ...operands]) => spawnSync(program, operands).status === 0);
  if (!made) {
    rmSync(image, { force: true });
    skip(context, 'no disk that can be frozen can be mounted here');
  }
  return {
    hang: () => execFileSync('fsfreeze', ['-f', folder]),
    goOn: () => spawnSync('fsfreeze', ['-u', folder]),
    remove: () => {
      execFileSync('umount', ['--lazy', folder]);
      rmSync(image, { force: true });
    },
  };
}

/** Mounts a separate small disk at this folder, until it is removed. Skips the test unless root runs it. */
export function mountDisk(context: Context, folder: string): { remove(): void } {
  const { status, stderr } = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', folder]);
  if (status !== 0) skip(context, `no disk can be mounted here: ${String(stderr ?? '').trim()}`);
  return { remove: () => execFileSync('umount', ['--lazy', folder]) };
}
