import { errorCode, type Found, fine, unknown, wrong } from './finding.js';
import type { System, User } from './system.js';

const BITS = { r: 4, w: 2 } as const;

/**
 * Whether the daemon's user may use the file, by its owner, group and mode.
 */
export async function access(
  system: System,
  user: User,
  path: string,
  wanted: 'rw' | 'w',
  group: string,
): Promise<Found> {
  try {
    const { mode, uid, gid } = await system.stat(path);
    const shift = user.uid === uid ? 6 : user.gids.includes(gid) ? 3 : 0;
    const bits = wanted === 'rw' ? BITS.r | BITS.w : BITS.w;
    if (user.uid === 0 || ((mode >> shift) & bits) === bits) return fine(`${user.name} may use ${path}`);
    return wrong(
      `${user.name} may not use ${path}`,
      `sudo usermod -aG ${group} ${user.name}, then sudo systemctl restart trunnion; ` +
        'where the group is right, sudo udevadm trigger brings its rules into force',
    );
  } catch (error) {
    return unknown(`${path}: ${errorCode(error)}`);
  }
}
