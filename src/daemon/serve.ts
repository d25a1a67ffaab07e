import type { Logger } from 'pino';
import { describeError } from '../core/errors.js';
import { closeLog } from '../events/log.js';
import type { Hardware } from '../hardware/ports.js';
import { darkenPin } from '../robot/dark-pin.js';
import { watchMemory } from './memory-watch.js';
import { type Daemon, type Parts, start } from './start.js';

/** A stop that takes longer is cut short: the laser has been dark since its beginning. */
const STOP_MS = 2000;

/** Runs a daemon as a process: signals end it in order, a defect ends it at once, and either way the laser is dark. */
export async function serve(parts: Parts): Promise<Daemon> {
  const { hardware, log } = parts;
  const lastResort = () => darkenPin(hardware, log);
  process.once('exit', lastResort);
  const fallOver = (error: unknown) => fall(hardware, log, error);
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
      log.error({ waitedMs: STOP_MS }, 'not stopped in order');
      closeLog(log);
      process.exit(1);
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
      .then(exitCode => {
        closeLog(log);
        process.exit(exitCode);
      });
  };
  // SIGHUP: the terminal of a daemon that was started by hand is gone, and nobody but the daemon would darken its laser.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  return starting;
}

function fall(hardware: Hardware, log: Logger, error: unknown): never {
  darkenPin(hardware, log);
  log.fatal(describeError(error), 'uncaught error');
  closeLog(log);
  process.exit(1);
}
