import { existsSync } from 'node:fs';

/** Whether systemd's time service has set the clock. With another time service nobody can see that from within the sandbox, and the answer is no. */
export function isClockSynchronised(): boolean {
  return existsSync('/run/systemd/timesync/synchronized');
}
