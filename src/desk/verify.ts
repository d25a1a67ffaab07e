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
    const own = lines
      .filter(name => robotOfFile(name) === of)
      .sort((one, other) => one.length - other.length || (one < other ? -1 : 1));
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
  const hashes = new Set<string>();
  let last: string | undefined;
  let lines = 0;
  let gap: string | undefined;
  for (const bytes of files)
    for (const [index, lineBytes] of wholeLines(bytes).entries()) {
      const hash = sha256(lineBytes);
      // A desk that was killed may have kept lines twice.
      if (hashes.has(hash)) continue;
      lines += 1;
      const line = parseLine(lineBytes.toString());
      if (line === undefined) return { is: 'changed', why: `line ${lines} is no line of a log.` };
      if (last !== undefined && line.prev !== last) {
        if (index > 0 || hashes.has(line.prev))
          return { is: 'changed', why: `line ${lines} does not follow the one before.` };
        gap = `lines before line ${lines} are missing: the desk was killed, or its disk failed.`;
      }
      hashes.add(line.prev).add(hash);
      last = hash;
    }
  const missing = heads.filter(head => !hashes.has(head)).length;
  if (gap !== undefined) return { is: 'missing', why: gap };
  if (missing === 0) return { is: 'whole', why: `${lines} lines, with all ${heads.length} heads.` };
  // The lines before the first head that is there were not asked for.
  const from = heads.findIndex(head => hashes.has(head));
  if (from > 0 && from === missing) return { is: 'whole', why: `${lines} lines, from head ${from + 1} on.` };
  const newest = heads.at(-1);
  const isEnd = newest !== undefined && !hashes.has(newest);
  return isEnd
    ? { is: 'missing', why: `the lines up to the newest head are missing; ${lines} lines are there.` }
    : { is: 'changed', why: `${missing} heads that the robot showed are in no line.` };
}
