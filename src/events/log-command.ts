import { readFile } from 'node:fs/promises';
import { errnoOf } from '../core/errors.js';
import type { Said } from '../core/said.js';
import type { LogHead } from '../schemas/log.js';
import { verifyLog } from './log-line.js';

/** `trunnion log verify FILE [--head SEQ:HASH]`. */
export async function logCommand(operands: readonly string[], headText: string | undefined): Promise<Said> {
  const [act, file, ...rest] = operands;
  const head = headText === undefined ? undefined : parseHead(headText);
  if (act !== 'verify' || file === undefined || rest.length > 0) {
    return { text: 'log takes verify FILE, with --head SEQ:HASH if a desk kept one', exitCode: 2 };
  }
  if (headText !== undefined && head === undefined) {
    return { text: '--head takes a number and a hash, as SEQ:HASH', exitCode: 2 };
  }
  let content: Buffer;
  try {
    content = await readFile(file);
  } catch (error) {
    return { text: `${file} cannot be read: ${whyUnread(errnoOf(error) ?? String(error))}`, exitCode: 1 };
  }
  const verdict = verifyLog(content, head);
  if (!verdict.ok) return { text: `${file}:${verdict.line}: ${verdict.why}`, exitCode: 1 };
  const against =
    head === undefined
      ? 'No head was given: a rewrite of all, or missing first lines, would not be seen.'
      : 'The head is in it.';
  const newest = verdict.head === undefined ? '' : `\nHead: ${verdict.head.seq}:${verdict.head.hash}`;
  const said = [`${verdict.lines} lines stand as they were written. ${against}`, ...verdict.notes].join('\n');
  return { text: `${said}${newest}`, exitCode: 0 };
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
