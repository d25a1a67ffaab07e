import { visible } from '../core/control-characters.js';
import { sha256 } from '../core/sha256.js';
import { type LogLine, parseLine, wholeLines } from '../events/log-line.js';
import type { LogFile } from '../events/verify-log.js';
import type { Disk } from '../storage/disk.js';
import { recordFiles } from './record.js';

interface Moment {
  /** Counts the runs of the desk: a restarted desk begins its clock again. */
  readonly run: number;
  /** Seconds on the desk's clock. Undefined if the desk never saw the robot's clock in that run of the robot. */
  readonly t: number | undefined;
  readonly of: string;
  readonly line: LogLine;
}

function linesOf(files: readonly LogFile[]) {
  return files
    .flatMap(({ content }) => wholeLines(content))
    .flatMap(bytes => {
      const line = parseLine(bytes.toString());
      return line === undefined ? [] : [{ line, hash: sha256(bytes) }];
    });
}

/**
 * All lines of a record in the desk's time. Each head that the desk noted ties the clock of one run of the robot to the
 * clock of one run of the desk.
 */
export async function timelineOf(disk: Disk, folder: string): Promise<string> {
  const files = await recordFiles(disk, folder);
  const own = linesOf(files.own).map(({ line }) => line);
  const runs = [...new Set(own.map(({ boot }) => boot))];
  const endOf = new Map(own.map(({ boot, t }) => [runs.indexOf(boot), t]));
  const moments: Moment[] = own.map(line => ({ run: runs.indexOf(line.boot), t: line.t, of: 'desk', line }));
  for (const [of, kept] of files.robots) {
    // A desk that was killed may have kept lines twice.
    const lines = new Map(linesOf(kept).map(({ line, hash }) => [hash, line]));
    const ties = own.flatMap(({ what, detail, t, boot: deskRun }) => {
      const boot = lines.get(String(detail?.hash))?.boot;
      const isTie = what === 'head' && detail?.robot === of && typeof detail.robotT === 'number';
      if (!isTie || boot === undefined) return [];
      const halfS = Number(detail.halfRoundTripMs) / 1000;
      return [{ boot, run: runs.indexOf(deskRun), halfS, ahead: t - halfS - Number(detail.robotT) }];
    });
    // The shortest round trip knows best.
    ties.sort((a, b) => a.run - b.run || a.halfS - b.halfS);
    for (const line of lines.values()) {
      const known = ties.filter(({ boot }) => boot === line.boot);
      const { run } =
        known.find(({ run, ahead }) => line.t + ahead <= (endOf.get(run) ?? 0)) ?? known.at(-1) ?? {};
      const tie = known.find(one => one.run === run);
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
