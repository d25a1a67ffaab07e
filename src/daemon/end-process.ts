import type { Logger } from 'pino';

/** If a daemon or a desk takes longer to end, something hangs. The process then kills itself. */
export const STOP_MS = 2000;
/** If file work at the end of the process takes longer, it hangs in the kernel. The process then kills itself. */
const HANG_MS = 1000;
const LOOK_MS = 5;

/** Ends the process. Waits for file work first, because Node's exit would wait for a hanging thread for ever. */
export async function endProcess(log: Logger, exitCode: number): Promise<never> {
  log.flush();
  for (let waitedMs = 0; isInKernel(); waitedMs += LOOK_MS) {
    if (waitedMs >= HANG_MS) kill();
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
  process.exit(exitCode);
}

/**
 * Ends the process without another turn of the event loop, in which a request could light the laser. Kills it while file work
 * is in flight, because that may hang.
 */
export function endAtOnce(exitCode: number): never {
  if (isInKernel()) kill();
  process.exit(exitCode);
}

/** Whether file work is in flight. */
function isInKernel(): boolean {
  return process.getActiveResourcesInfo().some(resource => resource.startsWith('FSReq'));
}

export function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}
