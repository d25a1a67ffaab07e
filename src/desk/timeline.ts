import { join } from 'node:path';
import { visible } from '../core/control-characters.js';
import { sha256 } from '../core/sha256.js';
import { type LogLine, parseLine, wholeLines } from '../events/log-line.js';
import { logFileNames } from '../events/numbered-files.js';
import type { Disk } from '../storage/disk.js';
import { ROBOTS, robotOfFile } from './record.js';

interface Moment {
  /** Counts the runs of the desk: a restarted desk begins its clock again. */
  readonly run: number;
  /** Seconds on the desk's clock. Undefined if the desk never saw the robot's clock in that run of the robot. */
  readonly t: number | undefined;
  readonly of: string;
  readonly line: LogLine;
}

/**
 * All lines of a record in the desk's time. Each head that the desk noted ties the clock of one run of the robot to the
 * clock of one run of the desk.
 */
export async function timelineOf(disk: Disk, folder: string): Promise<string> {
  const linesOf = async (...names: readonly string[]) =>
    wholeLines((await disk.read(join(folder, ...names))) ?? Buffer.alloc(0)).flatMap(bytes => {
      const line = parseLine(bytes.toString());
      return line === undefined ? [] : [{ line, hash: sha256(bytes) }];
    });
  const own: LogLine[] = [];
  for (const name of logFileNames(await disk.list(folder)))
    own.push(...(await linesOf(name)).map(({ line }) => line));
  const runs = [...new Set(own.map(({ boot }) => boot))];
  const endOf = new Map(own.map(({ boot, t }) => [runs.indexOf(boot), t]));
  const moments: Moment[] = own.map(line => ({ run: runs.indexOf(line.boot), t: line.t, of: 'desk', line }));
  for (const name of await disk.list(join(folder, ROBOTS))) {
    const of = robotOfFile(name);
    if (of === undefined) continue;
    const lines = await linesOf(ROBOTS, name);
    const boots = new Map(lines.map(({ line, hash }) => [hash, line.boot]));
    const ties = new Map<string, { readonly run: number; readonly ahead: number }[]>();
    for (const { what, detail, t, boot: deskRun } of own) {
      const boot = boots.get(String(detail?.hash));
      if (what === 'head' && detail?.robot === of && boot !== undefined && typeof detail.robotT === 'number')
        ties.set(boot, [...(ties.get(boot) ?? []), { run: runs.indexOf(deskRun), ahead: t - detail.robotT }]);
    }
    for (const { line } of lines) {
      const known = ties.get(line.boot) ?? [];
      const tie = known.find(({ run, ahead }) => line.t + ahead <= (endOf.get(run) ?? 0)) ?? known.at(-1);
      moments.push({ run: tie?.run ?? 0, t: tie && line.t + tie.ahead, of, line });
    }
  }
  const sorted = moments.toSorted((a, b) => a.run - b.run || (a.t ?? -1) - (b.t ?? -1));
  return sorted.map(inWords).join('');
}

function inWords({ t, of, line: { what, unit, who, outcome, detail } }: Moment): string {
  const parts = [t === undefined ? 'earlier' : t.toFixed(2), of, what, unit, who && `by ${who}`, outcome];
  const said = parts.filter(part => part !== undefined && part !== '').join('  ');
  return `${visible(`${said}  ${detail === undefined ? '' : JSON.stringify(detail)}`.trimEnd())}\n`;
}
