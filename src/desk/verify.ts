import { basename, join } from 'node:path';
import { sha256 } from '../core/sha256.js';
import { parseLine, wholeLines } from '../events/log-line.js';
import { logFileNames } from '../events/numbered-files.js';
import { verifyLog } from '../events/verify-log.js';
import type { Disk } from '../storage/disk.js';
import { hashOf, ROBOTS, robotOfFile } from './record.js';

export interface Verdict {
  /** The robot, or `desk`, or `folder`. */
  readonly of: string;
  readonly is: 'whole' | 'missing' | 'changed';
  readonly why: string;
}

/** Says of each part of a record whether it is whole. Needs neither desk nor robot. */
export async function verifyRecord(disk: Disk, folder: string): Promise<readonly Verdict[]> {
  const content = async (...names: readonly string[]) =>
    (await disk.read(join(folder, ...names))) ?? Buffer.alloc(0);
  const verdicts: Verdict[] = [];
  const [, hash] = /-([0-9a-f]{16})$/.exec(basename(folder)) ?? [];
  if (hash === undefined)
    verdicts.push({ of: 'folder', is: 'missing', why: 'it is not sealed: the match has not been released.' });
  else if ((await hashOf(disk, folder)) !== hash)
    verdicts.push({ of: 'folder', is: 'changed', why: 'its files do not have the hash of its name.' });
  const names = logFileNames(await disk.list(folder));
  const files = await Promise.all(names.map(async name => ({ name, content: await content(name) })));
  const log = verifyLog(files);
  if (!log.ok)
    return [...verdicts, { of: 'desk', is: 'changed', why: `${log.file}:${log.line}: ${log.why}` }];
  verdicts.push({ of: 'desk', is: 'whole', why: `${log.lines.length} lines.` });
  const heads = new Map<string, string[]>();
  const contradicted = new Map<string, string>();
  for (const { what, detail } of log.lines) {
    const { robot, hash, why } = detail ?? {};
    if (typeof robot !== 'string') continue;
    if (what === 'head' && typeof hash === 'string') heads.set(robot, [...(heads.get(robot) ?? []), hash]);
    if (what === 'contradicts') contradicted.set(robot, String(why));
  }
  const lines = await disk.list(join(folder, ROBOTS)).catch(() => []);
  const robots = new Set([...heads.keys(), ...lines.flatMap(name => robotOfFile(name) ?? [])]);
  for (const of of [...robots].sort()) {
    const own = lines.filter(name => robotOfFile(name) === of).sort();
    const contents = await Promise.all(own.map(name => content(ROBOTS, name)));
    verdicts.push({ of, ...robotVerdict(contents, heads.get(of) ?? [], contradicted.get(of)) });
  }
  return verdicts;
}

/** Whether the lines form one chain that has every head which the robot showed. */
function robotVerdict(
  files: readonly Buffer[],
  heads: readonly string[],
  contradicted: string | undefined,
): Omit<Verdict, 'of'> {
  if (contradicted !== undefined) return { is: 'changed', why: contradicted };
  const lines = files.flatMap(file => wholeLines(file));
  const hashes: string[] = [];
  for (const [index, bytes] of lines.entries()) {
    const line = parseLine(bytes.toString());
    if (line === undefined) return { is: 'changed', why: `line ${index + 1} is no line of a log.` };
    if (index === 0) hashes.push(line.prev);
    else if (line.prev !== hashes.at(-1))
      return { is: 'changed', why: `line ${index + 1} does not follow the one before.` };
    hashes.push(sha256(bytes));
  }
  const last = heads.at(-1);
  const missing = heads.filter(head => !hashes.includes(head)).length;
  if (missing === 0) return { is: 'whole', why: `${lines.length} lines, with all ${heads.length} heads.` };
  // The lines before the first head that is there were not asked for.
  const from = heads.findIndex(head => hashes.includes(head));
  if (from > 0 && from === missing)
    return { is: 'whole', why: `${lines.length} lines, from head ${from + 1} on.` };
  const isEnd = last !== undefined && !hashes.includes(last);
  return isEnd
    ? { is: 'missing', why: `the lines up to the newest head are missing; ${lines.length} lines are there.` }
    : { is: 'changed', why: `${missing} heads that the robot showed are in no line.` };
}
