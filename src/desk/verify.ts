import { basename } from 'node:path';
import { sha256 } from '../core/sha256.js';
import { type LogLine, parseLine, wholeLines } from '../events/log-line.js';
import { type LogFile, verifyLog } from '../events/verify-log.js';
import type { LogHead } from '../schemas/log.js';
import type { Disk } from '../storage/disk.js';
import { hashOf, recordFiles } from './record.js';

export interface Verdict {
  /** The robot, or `desk`, or `folder`. */
  readonly of: string;
  readonly is: 'whole' | 'missing' | 'changed';
  readonly why: string;
}

/** Reports for each part of a record whether it is whole, missing or changed. Needs neither desk nor robot. */
export async function verifyRecord(disk: Disk, folder: string): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = [];
  const [, hash] = /-([0-9a-f]{16})$/.exec(basename(folder)) ?? [];
  if (hash === undefined)
    verdicts.push({
      of: 'folder',
      is: 'missing',
      why: 'its name has no hash: it was renamed, its match was not released, or the desk ended within 10 s of that.',
    });
  else if ((await hashOf(disk, folder)) !== hash)
    verdicts.push({ of: 'folder', is: 'changed', why: 'its files do not have the hash of its name.' });
  const { own, robots } = await recordFiles(disk, folder);
  const log = verifyLog(own);
  if (!log.ok)
    return [...verdicts, { of: 'desk', is: 'changed', why: `${log.file}:${log.line}: ${log.why}` }];
  verdicts.push({ of: 'desk', ...deskVerdict(log) });
  const inMatch: string[] = [];
  const heads = new Map<string, LogHead[]>();
  const contradicted = new Map<string, string>();
  for (const { what, outcome, detail } of log.lines) {
    const { robot, seq, hash, why } = detail ?? {};
    if (typeof robot !== 'string') continue;
    if (what === 'in-match') inMatch.push(robot);
    if (what === 'head' && typeof hash === 'string')
      heads.set(robot, [...(heads.get(robot) ?? []), { seq: Number(seq), hash }]);
    // Another board has a log of its own.
    if (what === 'robots accept' && outcome === 'done') heads.delete(robot);
    if (what === 'contradicts') contradicted.set(robot, String(why));
  }
  for (const of of [...new Set([...inMatch, ...heads.keys(), ...robots.keys()])].sort()) {
    const why = contradicted.get(of);
    const verdict = robotVerdict(robots.get(of) ?? [], heads.get(of) ?? []);
    verdicts.push({ of, ...(why === undefined ? verdict : { is: 'changed', why }) });
  }
  return verdicts;
}

interface OwnLog {
  readonly lines: readonly LogLine[];
  readonly hasBeginning: boolean;
}

function deskVerdict({ lines, hasBeginning }: OwnLog): Omit<Verdict, 'of'> {
  if (lines.length === 0)
    return { is: 'missing', why: 'there is no line of a desk: this is no record of a match.' };
  if (lines.some(({ what }) => what === 'log-dropped'))
    return { is: 'missing', why: 'its oldest lines were dropped, because the record grew too large.' };
  const losses = lines.filter(({ what }) => what === 'log-lost');
  const lost = losses.reduce((sum, { detail }) => sum + Number(detail?.events ?? 1), 0);
  if (lost > 0)
    return { is: 'missing', why: `lines were lost, because the disk was full or too slow: ${lost}.` };
  if (!hasBeginning) return { is: 'missing', why: 'its first lines are missing.' };
  return { is: 'whole', why: `${lines.length} lines.` };
}

/** Whether the lines form one chain that has every head which the robot showed. */
function robotVerdict(files: readonly LogFile[], heads: readonly LogHead[]): Omit<Verdict, 'of'> {
  const known = new Set<string>();
  let last: LogHead | undefined;
  let lines = 0;
  let hasGap = false;
  /** The phase of the robot after its last line here. */
  let phase: unknown;
  for (const { content } of files)
    for (const [index, bytes] of wholeLines(content).entries()) {
      const hash = sha256(bytes);
      // If the desk was killed or its disk failed, it has asked again for lines that it may have kept already.
      if (known.has(hash)) continue;
      lines += 1;
      const line = parseLine(bytes.toString());
      if (line === undefined) return { is: 'changed', why: `line ${lines} is no line of a log.` };
      if (last !== undefined && line.prev !== last.hash) {
        if (index > 0 || known.has(line.prev))
          return { is: 'changed', why: `line ${lines} does not follow the one before.` };
        hasGap = true;
      }
      known.add(line.prev).add(hash);
      last = { seq: line.seq, hash };
      if (line.what === 'phase') phase = line.detail?.after ?? phase;
    }
  if (lines === 0 && heads.length === 0)
    return { is: 'missing', why: 'it was in the match, but the desk got nothing of its log.' };
  if (hasGap)
    return {
      is: 'missing',
      why: 'lines between are missing: the robot had dropped them, or its log was cut.',
    };
  const from = heads.findIndex(({ hash }) => known.has(hash));
  if (from > 0) return { is: 'missing', why: `the lines before head ${from + 1} are missing.` };
  const absent = heads.filter(({ hash }) => !known.has(hash));
  if (absent.some(({ seq }) => seq < (last?.seq ?? 0)))
    return { is: 'changed', why: 'a head that the robot showed is in no line.' };
  if (absent.length > 0)
    return { is: 'missing', why: `the lines up to the newest head are missing; ${lines} lines are there.` };
  if (phase !== undefined && phase !== 'ended' && phase !== 'none')
    return { is: 'missing', why: `its lines end in the phase ${phase}: what followed was not read.` };
  return { is: 'whole', why: `${lines} lines, with all ${heads.length} heads.` };
}
