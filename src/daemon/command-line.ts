import { parseArgs } from 'node:util';
import { badConfig } from '../config/config-file.js';
import { PORTS } from '../config/settings.js';
import { messageOf } from '../core/errors.js';

export interface CommandLine {
  readonly command: string;
  readonly host?: string;
  readonly port?: number;
  readonly config?: string;
  readonly state?: string;
  readonly json: boolean;
  readonly help: boolean;
  readonly version: boolean;
}

/** The options that the robot and the simulator both accept. */
export const OPTIONS_HELP = `  --host ADDRESS   listen on this address
  --port N         listen on this port; 0 = any free one
  --config FILE    read this configuration file
  --state DIR      keep the gains in this folder
  -h, --help       show this
  -V, --version    show the version`;

/** Throws `bad-config` with what is wrong, in words. */
export function parseCommandLine(args: readonly string[], commands: readonly string[]): CommandLine {
  const { values, positionals } = parse(args);
  const [command = commands[0] ?? '', ...rest] = positionals;
  if (!commands.includes(command)) throw badConfig([`unknown command ${command}`]);
  if (rest.length > 0) throw badConfig([`unexpected ${rest.join(' ')}`]);
  return {
    command,
    host: given('--host', values.host),
    port: values.port === undefined ? undefined : portOf(values.port),
    config: values.config,
    state: given('--state', values.state),
    json: values.json ?? false,
    help: values.help ?? false,
    version: values.version ?? false,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        host: { type: 'string' },
        port: { type: 'string' },
        config: { type: 'string' },
        state: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'V' },
      },
    });
  } catch (error) {
    throw badConfig([messageOf(error)], error);
  }
}

function given(option: string, value: string | undefined): string | undefined {
  if (value === '') throw badConfig([`${option} takes a value`]);
  return value;
}

function portOf(text: string): number {
  const { minimum, maximum } = PORTS;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= minimum && port <= maximum) return port;
  throw badConfig([`--port takes a number from ${minimum} to ${maximum}, not ${text}`]);
}
