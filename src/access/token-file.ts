import { join } from 'node:path';
import { isRobotError, RobotError } from '../core/errors.js';
import { isObject, parsedJson } from '../core/json.js';
import { sha256 } from '../core/sha256.js';
import type { Disk } from '../storage/disk.js';
import { changeFile } from '../storage/durable-file.js';
import { isToken, type Token } from './token.js';

const CURE =
  'Start a new list with sudo trunnion token add on a robot, or sudo trunnion-desk token add on a desk; the old tokens are void then.';
const CURE_OF_NEWER =
  'A newer version of Trunnion wrote the list of tokens: install that version, or move tokens.json away and restart the daemon.';

export function tokenFile(folder: string): string {
  return join(folder, 'tokens.json');
}

/**
 * Resolves with undefined if there is no file. Rejects with `access-unavailable` if the file is damaged or cannot be read.
 */
export async function readTokens(disk: Disk, folder: string): Promise<readonly Token[] | undefined> {
  const path = tokenFile(folder);
  const content = await disk.read(path).catch((error: unknown) => {
    const cure = isRobotError(error, 'storage-failed') ? error.context.cure : undefined;
    throw new RobotError('access-unavailable', { cure, isUnread: true }, { cause: error });
  });
  if (content === undefined) return undefined;
  const tokens = decodeTokens(content);
  if (tokens === undefined) {
    // Newer versions name their format. This version does not.
    const isNewer = 'format' in membersOf(content);
    throw new RobotError('access-unavailable', { cure: isNewer ? CURE_OF_NEWER : CURE, isNewer });
  }
  return tokens;
}

/**
 * Resolves when the tokens are on the disk. Rejects with `storage-failed`. The old tokens are then in force,
 * unless the error has `mayRemain`. If there was no list before, a failure leaves an empty list, not a
 * missing file. A daemon that has read the new list would treat a missing file as lost, and stay closed.
 */
export async function writeTokens(disk: Disk, folder: string, tokens: readonly Token[]): Promise<void> {
  const path = tokenFile(folder);
  const before = (await disk.read(path)) ?? encodeTokens([]);
  await changeFile(disk, path, { before, after: encodeTokens(tokens) });
}

export function encodeTokens(tokens: readonly Token[]): Buffer {
  const plain = tokens.map(({ name, role, hash }) => ({ name, role, hash }));
  return Buffer.from(`${JSON.stringify({ tokens: plain, sha256: checksum(plain) }, undefined, 2)}\n`);
}

/** Undefined if the file is damaged. */
export function decodeTokens(content: Buffer): readonly Token[] | undefined {
  const { tokens, sha256: sum } = membersOf(content);
  return Array.isArray(tokens) && tokens.every(isToken) && checksum(tokens) === sum ? tokens : undefined;
}

function membersOf(content: Buffer): Readonly<Record<string, unknown>> {
  const value = parsedJson(content.toString());
  return isObject(value) ? value : {};
}

function checksum(tokens: readonly Token[]): string {
  return sha256(JSON.stringify(tokens));
}
