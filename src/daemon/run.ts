import { getHeapStatistics } from 'node:v8';
import type { Config } from '../config/settings.js';
import { every, systemClock } from '../core/clock.js';
import { describeError, errnoOf, isRobotError, type RobotError } from '../core/errors.js';
import { createStdoutLog } from '../events/stdout-log.js';
import { darkenPin } from '../robot/laser.js';
import { endAtOnce, endProcess, kill, STOP_MS } from './end-process.js';
import { type Daemon, type DaemonParts, start } from './start.js';
import { createNotifier } from './systemd-notify.js';

const MEMORY_MS = 250;
/**
 * The fraction of V8's limit at which memory counts as full. The rest of the limit is room for short-lived
 * objects. A daemon without a leak uses far less.
 */
const FULL = 0.75;

/**
 * Runs a daemon as a process. A signal ends it cleanly, and a defect ends it at once. The laser is dark in both
 * cases.
 */
export async function serve(parts: DaemonParts): Promise<Daemon> {
  const { hardware, log } = parts;
  const lastResort = () => darkenPin(hardware, log);
  process.once('exit', lastResort);
  const fallOver = (error: unknown) => {
    darkenPin(hardware, log);
    log.fatal(describeError(error), 'uncaught error');
    log.flush();
    endAtOnce(1);
  };
  process.on('uncaughtException', fallOver);
  process.on('unhandledRejection', fallOver);
  // If memory ran out, V8 would end the process without darkening the laser.
  every(parts.clock, MEMORY_MS, () => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics();
    const inMiB = (bytes: number) => Math.round(bytes / 2 ** 20);
    if (used >= FULL * limit)
      fallOver(new Error(`out of memory: ${inMiB(used)} of ${inMiB(limit)} MiB are used`));
  });

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
  // A terminal sends SIGHUP when it closes, if a person started the daemon in it.
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, stop);
  return starting;
}

/** The differences between the robot and a simulated one. */
export interface Entry {
  /** The command that starts a second daemon beside a running one. Undefined if only one can run. */
  readonly another?: string;
  open(config: Config): Promise<Pick<DaemonParts, 'hardware' | 'extraRoutes' | 'rootSocket' | 'marks'>>;
}

/** Serves until a signal ends the process. If the start fails, the process logs the reason and ends. */
export async function serveRobot(entry: Entry, config: Config): Promise<void> {
  const log = createStdoutLog({ level: config.log.level });
  try {
    const notifier = createNotifier(process.env, error =>
      log.warn(describeError(error), 'systemd does not hear the daemon'),
    );
    await serve({ config, log, clock: systemClock, notifier, ...(await entry.open(config)) });
  } catch (error) {
    const { sentence, fields } = startFailure(error, entry.another);
    log.fatal(fields, sentence);
    await endProcess(log, 1);
  }
}

/**
 * Why the daemon does not start: a sentence for people, and fields for programs. `another` is the command that starts
 * a second daemon beside a running one, if that is possible.
 */
export function startFailure(error: unknown, another?: string) {
  const endIt = `end that one${another === undefined ? '' : `, or start a second one with ${another}`}`;
  if (isRobotError(error, 'cannot-listen')) {
    const { code, context } = error;
    return { sentence: noPort(error, another && endIt), fields: { code, ...context } };
  }
  if (isRobotError(error, 'state-in-use')) {
    const sentence = `another daemon keeps its gains in ${error.context.folder}: ${endIt}`;
    return { sentence, fields: { code: error.code } };
  }
  if (isRobotError(error, 'bus-in-use')) {
    const sentence = `another process drives the robot on I2C bus ${error.context.bus}: end that one; sudo trunnion doctor says whether it is the service`;
    return { sentence, fields: { code: error.code } };
  }
  return { sentence: 'cannot start', fields: describeError(error) };
}

function noPort({ cause, context: { port, reason } }: RobotError<'cannot-listen'>, endIt?: string): string {
  const errno = errnoOf(cause);
  if (errno === 'EACCES') return `${reason}; try --port 8080, or set http.port`;
  if (errno !== 'EADDRINUSE') return `cannot listen: ${reason}; set http.host, or try --host 0.0.0.0`;
  if (endIt !== undefined) return `${reason}: ${endIt}`;
  return `${reason}; try --port ${port === 65535 ? 8080 : port + 1}, or set http.port`;
}
