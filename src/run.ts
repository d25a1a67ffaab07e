import { existsSync } from 'node:fs';
import { systemClock } from './clock.js';
import { type CommandLine, OPTIONS_HELP, parseCommandLine } from './command-line.js';
import { type Config, configProblem, loadConfig } from './config.js';
import { describeError, isRobotError } from './errors.js';
import type { Hardware } from './hardware/ports.js';
import type { Route } from './http/route.js';
import { closeLog, createLog } from './log.js';
import { serve } from './serve.js';
import { createNotifier } from './systemd-notify.js';
import { version } from './version.js';

export interface Opened {
  readonly hardware: Hardware;
  readonly hiddenRoutes?: readonly Route[];
}

/** What the robot's and the simulator's entry differ in. */
export interface Entry {
  readonly name: string;
  /** Lines of help between the usage and the options. */
  readonly about: string;
  readonly defaults: { readonly host: string; readonly state: string };
  /** Read when it is there and no other is named. */
  readonly configFile?: string;
  readonly commands: Readonly<Record<string, (config: Config, line: CommandLine) => Promise<number>>>;
  open(config: Config): Promise<Opened>;
}

/** Exit codes: 0 well, 1 failed, 2 asked wrongly or configured wrongly. */
export async function run(entry: Entry, args: readonly string[]): Promise<void> {
  try {
    const line = parseCommandLine(args, ['serve', ...Object.keys(entry.commands)]);
    if (line.help) return print(`Usage: ${entry.name} [options]\n\n${entry.about}\n\n${OPTIONS_HELP}`);
    if (line.version) return print(version);
    const config = configOf(entry, line);
    const command = entry.commands[line.command];
    if (command === undefined) await serveRobot(entry, config);
    else process.exitCode = await command(config, line);
  } catch (error) {
    if (!isRobotError(error, 'bad-config')) throw error;
    process.stderr.write(`${configProblem(error)}\n`);
    process.exitCode = 2;
  }
}

function configOf(entry: Entry, line: CommandLine): Config {
  const { host, port, state } = line;
  const usual = entry.configFile !== undefined && existsSync(entry.configFile) ? entry.configFile : undefined;
  const overrides = {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(state !== undefined && { state }),
  };
  return loadConfig(line.config ?? usual, overrides, entry.defaults);
}

async function serveRobot(entry: Entry, config: Config): Promise<void> {
  const log = createLog({ level: config.log.level });
  try {
    const notifier = createNotifier(process.env, error =>
      log.warn(describeError(error), 'systemd does not hear'),
    );
    await serve({ config, log, clock: systemClock, notifier, ...(await entry.open(config)) });
  } catch (error) {
    log.fatal(describeError(error), 'cannot start');
    closeLog(log);
    process.exit(1);
  }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
