import type { LogLine } from '../../src/events/log-line.js';
import { type LogFile, verifyLog } from '../../src/events/verify-log.js';
import type { LogEvent, LogHead } from '../../src/schemas/log.js';
import type { Asked } from './asked.js';
import { promise } from './broken-promise.js';

/** What the API shows of the event log when the robot has settled. */
export interface LogShown {
  /** Undefined until the disk has a line. */
  readonly head: LogHead | undefined;
  readonly events: readonly LogEvent[];
}

/** The log's name of each act, by the end of its path. */
const WHAT: Readonly<Record<string, string>> = {
  stop: 'stop',
  resume: 'resume',
  laser: 'laser',
  match: 'phase',
  'match/lock': 'lock',
  'match/unlock': 'unlock',
  'mode/switch': 'mode',
  excitation: 'excite',
  pidconfig: 'save',
  'pidconfig/restore': 'restore',
};
/**
 * Events about the log itself take the number of the line before them. If numbering restarts, they take the number of
 * the line after them.
 */
const OF_ITSELF = /^log-/;

/**
 * The promises of the event log: it contains every act that was answered 200, and every head that a caller has
 * received stays valid.
 */
export class LogModel {
  readonly #heads: LogHead[] = [];
  /** Acts of this run that were answered 200. */
  readonly #done = new Set<string>();
  /** True if a daemon may have failed to read the log at its start. The line numbers may then restart. */
  #mayBeginAnew = false;

  answered({ method, path, answer }: Asked): void {
    if (method !== 'POST' || answer?.status !== 200) return;
    const [, unit, rest = ''] = /^\/api\/(?:(gimbal|chassis)\/)?(.*)$/.exec(path) ?? [];
    const what = WHAT[rest];
    if (what !== undefined) this.#done.add(`${what} ${unit}`);
  }

  unread(): void {
    this.#mayBeginAnew = true;
  }

  ended(): void {
    this.#done.clear();
  }

  /** `mayForget`: a daemon may have appended to lines that were never synced and are now lost. */
  judgeSettled(files: readonly LogFile[], { head, events }: LogShown, mayForget: boolean): void {
    const recorded = new Set(
      events.flatMap(({ what, unit, outcome }) => (outcome === 'done' ? [`${what} ${unit}`] : [])),
    );
    for (const act of this.#done)
      promise(recorded.has(act), 'logged', () => `${act} was done, and no event says so`);
    if (mayForget) return;
    for (const given of [...this.#heads, ...(head === undefined ? [] : [head])]) {
      const verdict = verifyLog(files, given);
      promise(verdict.ok, 'log', () => `the log does not verify: ${verdict.ok ? '' : verdict.why}`);
    }
    const verdict = verifyLog(files);
    const lines = verdict.ok ? verdict.lines : [];
    for (const [index, line] of lines.entries()) {
      const before = lines[index - 1];
      promise(
        before === undefined || this.#follows(before, line),
        'log numbers',
        () => `${line.seq} ${line.what} stands after ${before?.seq} ${before?.what}`,
      );
    }
  }

  adopt({ head }: LogShown): void {
    if (head !== undefined) this.#heads.splice(0, this.#heads.length, ...this.#heads.slice(-1), head);
  }

  #follows(before: LogLine, line: LogLine): boolean {
    if (this.#mayBeginAnew && before.boot !== line.boot) return true;
    const isSame = line.seq === before.seq;
    if (OF_ITSELF.test(line.what)) return isSame;
    if (this.#mayBeginAnew && OF_ITSELF.test(before.what) && isSame) return true;
    return line.seq === before.seq + 1;
  }
}
