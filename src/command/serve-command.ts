import type { Config } from '../config/config.js';
import { badConfig } from '../config/config-file.js';
import { PORTS } from '../config/settings.js';
import { type Entry, serveRobot } from '../daemon/run.js';
import { valued } from './arguments.js';
import { type Command, command } from './command.js';
import { configAt, type Home } from './place.js';

/** Says where a daemon listens and keeps its files, if not at home. */
export function serveOptions({ host, state, configFile }: Home) {
  return {
    host: valued('ADDRESS', 'listen on this address', host),
    port: valued('N', 'listen on this port; 0 = any free one', '8080'),
    config: valued(
      'FILE',
      'read this configuration file; options win over it',
      configFile === undefined ? 'none' : `${configFile}, if it exists`,
    ),
    state: valued('DIR', 'keep the state in this folder', state),
  };
}

interface Served {
  readonly host?: string | undefined;
  readonly port?: string | undefined;
  readonly config?: string | undefined;
  readonly state?: string | undefined;
}

export function serveCommand(home: Home, entry: Entry): Command {
  const about = 'Serve the robot, as the service does';
  return command({ command: 'serve', about, options: serveOptions(home) }, async ({ values }) => {
    await serveRobot(entry, servedConfig(home, values));
    return undefined;
  });
}

/** Throws `bad-config`. */
export function servedConfig(home: Home, { port, ...others }: Served): Config {
  return configAt(home, { ...others, port: portOf(port) });
}

/** Throws `bad-config`. */
export function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const { minimum, maximum } = PORTS;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= minimum && port <= maximum) return port;
  throw badConfig([`--port takes a number from ${minimum} to ${maximum}, not ${text}`]);
}
