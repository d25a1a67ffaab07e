import { type Entry, serveRobot } from '../daemon/run.js';
import { valued } from './arguments.js';
import { type Command, command } from './command.js';
import { configOf, type Home } from './place.js';

/** The options of a daemon, with the defaults of this home. */
export function serveOptions({ host, state, usualState = state, configFile }: Home) {
  return {
    host: valued('ADDRESS', 'listen on this address', host),
    port: valued('N', 'listen on this port; 0 = any free one', '8080'),
    config: valued(
      'FILE',
      'read this configuration file; options override it',
      configFile === undefined ? 'none' : `${configFile}, if it exists`,
    ),
    state: valued('DIR', 'keep the state in this folder', usualState),
  };
}

export function serveCommand(home: Home, entry: Entry): Command {
  const about = 'Serve the robot, as the service does';
  return command({ command: 'serve', about, options: serveOptions(home) }, async ({ values }) => {
    await serveRobot(entry, configOf(home, values));
    return undefined;
  });
}
