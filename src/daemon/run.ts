import type { Config } from '../config/config.js';
import { systemClock } from '../core/clock.js';
import { describeError } from '../core/errors.js';
import { createLog } from '../events/log.js';
import type { Hardware } from '../hardware/ports.js';
import type { Route } from '../http/route.js';
import { endProcess, serve } from './serve.js';
import { startFailure } from './start-failure.js';
import { createNotifier } from './systemd-notify.js';

interface Opened {
  readonly hardware: Hardware;
  readonly extraRoutes?: readonly Route[];
  readonly breakGlass?: string;
}

/** The differences between the robot and a simulated one. */
export interface Entry {
  /** The command that starts a second one beside the one that runs. Undefined if only one can run. */
  readonly another?: string;
  open(config: Config): Promise<Opened>;
}

/** Serves until a signal ends the process. A failed start ends the process after a line in the log. */
export async function serveRobot(entry: Entry, config: Config): Promise<void> {
  const log = createLog({ level: config.log.level });
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
