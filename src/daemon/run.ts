import { existsSync } from 'node:fs';
import { type Config, configProblem, loadConfig } from '../config/config.js';
import { systemClock } from '../core/clock.js';
import { describeError, isRobotError } from '../core/errors.js';
import type { Said } from '../core/said.js';
import { version } from '../core/version.js';
import { createLog } from '../events/log.js';
import type { Hardware } from '../hardware/ports.js';
import type { Route } from '../http/route.js';
import { type CommandLine, OPTIONS_HELP, parseCommandLine } from './command-line.js';
import { endProcess, serve } from './serve.js';
import { startFailure } from './start-failure.js';
import { createNotifier } from './systemd-notify.js';

interface Opened {
  readonly hardware: Hardware;
  readonly extraRoutes?: readonly Route[];
  readonly breakGlass?: string;
}

interface Asked {
  readonly config: Config;
  /** What is wrong with the configuration file. `config` then has the defaults. */
  readonly configProblem: string | undefined;
  readonly json: boolean;
}

/** The differences between the robot's entry and the simulator's. */
interface Entry {
  readonly name: string;
  /** Lines of help between the usage and the options. */
  readonly about: string;
  readonly defaults: { readonly host: string; readonly state: string };
  /** The command that starts a second one beside the one that runs. Undefined if only one can run. */
  readonly another?: string;
  /** The configuration file if `--config` is not given and this file exists. */
  readonly configFile?: string;
  readonly commands: Readonly<Record<string, (asked: Asked) => Promise<number>>>;
  /** Runs commands with other arguments than `serve`. Resolves with undefined for any other command. */
  readonly beside?: (args: readonly string[]) => Promise<Said | undefined>;
  open(config: Config): Promise<Opened>;
}

/**
 * The exit code if the event loop runs empty before the command has ended. Without it Node would exit with 0.
 */
const NEVER_DONE = 13;

export async function run(entry: Entry, args: readonly string[]): Promise<void> {
  process.exitCode = NEVER_DONE;
  process.exitCode = await exitCodeOf(entry, args);
}

/** 0 for success, 1 for failure, 2 for a wrong command line or configuration. */
async function exitCodeOf(entry: Entry, args: readonly string[]): Promise<number> {
  try {
    const said = await entry.beside?.(args);
    if (said !== undefined) {
      (said.exitCode === 0 ? process.stdout : process.stderr).write(`${said.text}\n`);
      return said.exitCode;
    }
    const line = parseCommandLine(args, ['serve', ...Object.keys(entry.commands)]);
    if (line.help) print(`Usage: ${entry.name} [options]\n\n${entry.about}\n\n${OPTIONS_HELP}`);
    else if (line.version) print(version);
    else {
      const command = entry.commands[line.command];
      if (command !== undefined) return await command({ ...configOrDefaults(entry, line), json: line.json });
      await serveRobot(entry, loadConfig(fileOf(entry, line), line, entry.defaults));
    }
    return 0;
  } catch (error) {
    if (!isRobotError(error, 'bad-config')) throw error;
    process.stderr.write(`${configProblem(error)}\n`);
    return 2;
  }
}

/** The file named by `--config`, or the default file if it exists. */
function fileOf(entry: Entry, line: CommandLine): string | undefined {
  if (line.config !== undefined) return line.config;
  return entry.configFile !== undefined && existsSync(entry.configFile) ? entry.configFile : undefined;
}

/** The doctor must also run if the configuration has a mistake. */
function configOrDefaults(entry: Entry, line: CommandLine): Omit<Asked, 'json'> {
  try {
    return { config: loadConfig(fileOf(entry, line), line, entry.defaults), configProblem: undefined };
  } catch (error) {
    return { config: loadConfig(undefined, line, entry.defaults), configProblem: configProblem(error) };
  }
}

async function serveRobot(entry: Entry, config: Config): Promise<void> {
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

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
