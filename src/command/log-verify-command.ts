import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { logFileNames } from '../events/numbered-files.js';
import { type LogFile, verifyLog } from '../events/verify-log.js';
import type { LogHead } from '../schemas/log.js';
import { failed, type Said, unreadable, wrong } from './command.js';

/** `trunnion log verify`. The path is a state folder or one file. The head is given as `SEQ:HASH`. */
export async function verifyCommand(asked: {
  path: string;
  headText?: string | undefined;
  isSimulated?: boolean;
}): Promise<Said> {
  const { path, headText, isSimulated = false } = asked;
  const head = headText === undefined ? undefined : parseHead(headText);
  if (headText !== undefined && head === undefined)
    return wrong('--head takes a number and a hash, as SEQ:HASH');
  let folder: string;
  let isFolder: boolean;
  let files: readonly LogFile[];
  try {
    isFolder = (await stat(path)).isDirectory();
    folder = isFolder ? path : dirname(path);
    const names = isFolder ? logFileNames(await readdir(path)) : [basename(path)];
    files = await readNewestFirst(folder, names);
  } catch (error) {
    return unreadable(path, error, 'sudo trunnion log verify');
  }
  if (files.length === 0) return failed(`${path} has no log of events`);
  const verdict = verifyLog(files, head);
  if (!verdict.ok) {
    const { line, why } = verdict;
    const file = join(folder, verdict.file);
    return { text: `${file}:${line}: ${why}`, exitCode: 1, json: { ok: false, file, line, detail: why } };
  }
  const [first] = verdict.lines;
  if (first === undefined) return failed(`${path} has no line of the log`);
  if (isFolder && !verdict.hasBeginning)
    return failed(
      `${folder}: the log begins at number ${first.seq}, and no line says that older ones were dropped: its first lines or files were removed.`,
    );
  const against =
    head === undefined
      ? `No head was given, so this check cannot see a rewrite of the whole log, or missing ${isFolder ? '' : 'first or '}last lines.`
      : 'The log contains the head.';
  const { lines, notes, head: newest } = verdict;
  // Each line is confirmed by the hash in the next one, and the last line only by a head.
  const confirmed = lines.length - (head !== undefined && head.hash === newest?.hash ? 0 : 1);
  const last =
    confirmed === lines.length ? '' : 'Nothing confirms the last line: somebody may have changed it. ';
  const end = newest === undefined ? '' : `\nHead: ${newest.seq}:${newest.hash}`;
  const of = isSimulated ? 'lines of a simulated robot' : 'lines';
  const count = `${confirmed} of ${lines.length} ${of} are unchanged. ${last}${against}`;
  const isHeadFound = head === undefined ? undefined : true;
  const json = {
    ok: true,
    simulated: isSimulated,
    lines: lines.length,
    confirmed,
    head: newest,
    isHeadFound,
    notes,
  };
  return { text: `${[count, ...notes].join('\n')}${end}`, exitCode: 0, json };
}

/**
 * Returns the files oldest first, but reads the newest first. The daemon may write meanwhile: an older file that is
 * read later has every line that the newer file continues.
 */
async function readNewestFirst(folder: string, names: readonly string[]): Promise<readonly LogFile[]> {
  const files: LogFile[] = [];
  for (const name of [...names].reverse())
    files.unshift({ name, content: await readFile(join(folder, name)) });
  return files;
}

function parseHead(text: string): LogHead | undefined {
  const [, seq, hash] = /^(\d{1,15}):([0-9a-f]{64})$/i.exec(text) ?? [];
  return seq === undefined || hash === undefined ? undefined : { seq: Number(seq), hash: hash.toLowerCase() };
}
