import { isRobotError, type RobotError } from '../core/errors.js';
import type { Listeners } from '../core/listeners.js';
import type { EventLog } from './event-log.js';

/** A file of the state folder whose owner retries after a failure. `changed` is emitted when the problem may have changed. */
type KeptFile = Readonly<{ problem: RobotError | undefined; changed: Listeners<void> }>;

/**
 * Records when a file of the state folder fails and when it works again. The keys of `files` say what each
 * file contains.
 */
export function recordStorage(files: Readonly<Record<string, KeptFile>>, eventLog: EventLog): void {
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
