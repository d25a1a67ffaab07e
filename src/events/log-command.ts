import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errnoOf } from '../core/errors.js';
import type { Said } from '../core/said.js';
import type { LogHead } from '../schemas/log.js';
import { logFileNames } from './log-files.js';
import { type LogFile, verifyLog } from './verify-log.js';

/** `trunnion log verify PATH [--head SEQ:HASH]`. PATH is the state folder or one file. */
export async function logCommand(operands: readonly string[], headText: string | undefined): Promise<Said> {
  const [act, path, ...rest] = operands;
  const head = headText === undefined ? undefined : parseHead(headText);
  if (act !== 'verify' || path === undefined || rest.length > 0) {
    return { text: 'log takes verify PATH, with --head SEQ:HASH if a desk kept one', exitCode: 2 };
  }
  if (headText !== undefined && head === undefined) {
    return { text: '--head takes a number and a hash, as SEQ:HASH', exitCode: 2 };
  }
  let folder: string;
  let files: readonly LogFile[];
  try {
    const isFolder = (await stat(path)).isDirectory();
    folder = isFolder ? path : dirname(path);
    const names = isFolder ? logFileNames(await readdir(path)) : [basename(path)];
    files = await readNewestFirst(folder, names);
  } catch (error) {
    return { text: `${path} cannot be read: ${whyUnread(errnoOf(error) ?? String(error))}`, exitCode: 1 };
  }
  if (files.length === 0) return { text: `${path} has no log of events`, exitCode: 1 };
  const verdict = verifyLog(files, head);
  if (!verdict.ok)
    return { text: `${join(folder, verdict.file)}:${verdict.line}: ${verdict.why}`, exitCode: 1 };
  if (verdict.lines.length === 0) return { text: `${path} has no line of the log`, exitCode: 1 };
  const against =
    head === undefined
      ? 'No head was given: a rewrite of all, or missing first or last lines, would not be seen.'
      : 'The head is in it.';
  const newest = verdict.head === undefined ? '' : `\nHead: ${verdict.head.seq}:${verdict.head.hash}`;
  const said = [`${verdict.lines.length} lines stand as they were written. ${against}`, ...verdict.notes];
  return { text: `${said.join('\n')}${newest}`, exitCode: 0 };
}

/**
 * Returns the files oldest first. Reads the newest first: if the daemon writes at the same time, an older file still has
 * every line that a newer one follows.
 */
async function readNewestFirst(folder: string, names: readonly string[]): Promise<readonly LogFile[]> {
  const files: LogFile[] = [];
  for (const name of [...names].reverse())
    files.unshift({ name, content: await readFile(join(folder, name)) });
  return files;
}

function whyUnread(problem: string): string {
  if (problem === 'ENOENT') return 'there is no such file';
  if (problem === 'EACCES') return 'only root and the daemon may; put sudo before the command';
  return problem;
}

function parseHead(text: string): LogHead | undefined {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? [];
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash: hash.toLowerCase() };
}
