import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import { describeError, isRobotError, type RobotError } from '../core/errors.js';
import type { Listeners } from '../core/listeners.js';
import type { Robot } from '../robot/robot.js';
import type { NewEvent } from '../schemas/log.js';
import type { MemoryLog } from './memory-log.js';
import { PerMinute } from './per-minute.js';

/** Events that count as warnings although they are not failures. */
const WARNINGS: readonly string[] = ['fault', 'reset', 'set-aside'];

/**
 * Records what the robot does. Each event without a caller also gets a log line under its name. Requests have
 * a log line already. A repeated warning gets at most one line a minute, because a loose cable must not fill
 * the disk. Returns a function that ends the recording.
 */
export function recordEvents(robot: Pick<Robot, 'events'>, eventLog: MemoryLog, log: Logger, clock: Clock) {
  const warnings = new PerMinute<NewEvent>(clock, ({ what, unit, detail }, repeats) =>
    log.warn({ unit, ...detail, repeats }, what),
  );
  const write = (event: NewEvent) => {
    const { what, unit, detail, error } = event;
    const fields = { unit, ...detail, ...(error !== undefined && describeError(error)) };
    if (error === undefined && !WARNINGS.includes(what)) return log.info(fields, what);
    if (warnings.isFirst(JSON.stringify([what, unit, detail]), event)) log.warn(fields, what);
  };
  const ends = [
    eventLog.recorded.add(({ event, error }) => {
      if (event.who === undefined) write({ ...event, error });
    }),
    robot.events.add(event => {
      if (event.what === 'not-found' || event.what === 'poll-failed' || event.what === 'work-failed')
        write(event);
      else eventLog.record(event);
    }),
    () => warnings.close(),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** A file of the state folder whose owner retries after a failure. `changed` is emitted when the problem may have changed. */
type KeptFile = Readonly<{ problem: RobotError | undefined; changed: Listeners<void> }>;

/**
 * Records when a file of the state folder fails and when it works again. The keys of `files` say what each
 * file contains.
 */
export function recordStorage(files: Readonly<Record<string, KeptFile>>, eventLog: MemoryLog): void {
  for (const [file, kept] of Object.entries(files)) {
    let fails = false;
    const check = () => {
      const { problem } = kept;
      if ((problem !== undefined) === fails) return;
      fails = problem !== undefined;
      if (problem === undefined) eventLog.record({ what: 'storage-works', detail: { file } });
      else
        eventLog.record({ what: 'storage-failed', detail: { file, ...reasonOf(problem) }, error: problem });
    };
    check();
    kept.changed.add(check);
  }
}

function reasonOf(problem: RobotError): Readonly<Record<string, string>> {
  const { code } = problem;
  if (isRobotError(problem, 'access-unavailable') && problem.context.lastHolds)
    return { code, holds: 'the last list' };
  if (!isRobotError(problem, 'storage-failed')) return { code };
  const { operation, errno } = problem.context;
  return errno === undefined ? { operation } : { operation, errno };
}
