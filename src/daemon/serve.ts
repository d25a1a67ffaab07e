import type { Logger } from 'pino';
import { describeError } from '../core/errors.js';
import { darkenPin } from '../robot/dark-pin.js';
import { watchMemory } from './memory-watch.js';
import { type Daemon, type Parts, start } from './start.js';

/** If a stop takes longer, something hangs. The process then kills itself. */
const STOP_MS = 2000;
/** File work that takes longer at the end of the process hangs in the kernel. The process then kills itself. */
const HANG_MS = 1000;
const LOOK_MS = 5;

/** Runs a daemon as a process: signals end it in order, a defect ends it at once, and either way the laser is dark. */
export async function serve(parts: Parts): Promise<Daemon> {
  const { hardware, log } = parts;
  const lastResort = () => darkenPin(hardware, log);
  process.once('exit', lastResort);
  const fallOver = (error: unknown) => {
    darkenPin(hardware, log);
    log.fatal(describeError(error), 'uncaught error');
    log.flush();
    process.exit(1);
  };
  process.on('uncaughtException', fallOver);
  process.on('unhandledRejection', fallOver);
  watchMemory(parts.clock, fallOver);

  let stopping = false;
  const starting = start({ ...parts, isEnding: () => stopping });
  const stop = (signal: NodeJS.Signals) => {
    darkenPin(hardware, log);
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    setTimeout(() => {
      darkenPin(hardware, log);
      log.error({ waitedMs: STOP_MS }, 'not stopped in order');
      log.flush();
      kill();
    }, STOP_MS).unref();
    void starting
      .then(daemon => daemon.close())
      .then(
        () => {
          process.off('exit', lastResort);
          return 0;
        },
        (error: unknown) => {
          log.error(describeError(error), 'not stopped in order');
          return 1;
        },
      )
      .then(exitCode => endProcess(log, exitCode));
  };
  // SIGHUP arrives when the terminal of a daemon that was started by hand is closed.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  return starting;
}

/** Ends the process. Waits for file work first, because Node's exit would wait for a hanging thread for ever. */
export async function endProcess(log: Logger, exitCode: number): Promise<never> {
  log.flush();
  for (let waitedMs = 0; isInKernel(); waitedMs += LOOK_MS) {
    if (waitedMs >= HANG_MS) kill();
    await new Promise(resolve => setTimeout(resolve, LOOK_MS));
  }
  process.exit(exitCode);
}

/** Whether file work is in flight. */
function isInKernel(): boolean {
  return process.getActiveResourcesInfo().some(resource => resource.startsWith('FSReq'));
}

function kill(): void {
  process.kill(process.pid, 'SIGKILL');
}
