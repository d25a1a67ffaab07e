import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { breakGlassPath, RUNTIME_FOLDER, simulatorSocket } from '../access/break-glass.js';
import { type Config, loadConfig } from '../config/config.js';
import { valued } from './arguments.js';

/** Where a robot has its files, and where it listens unless the configuration says otherwise. */
export interface Home {
  readonly host: string;
  readonly state: string;
  /** Read if no other file is named and this one exists. */
  readonly configFile?: string;
}

export const ROBOT: Home & { readonly configFile: string } = {
  host: '0.0.0.0',
  state: '/var/lib/trunnion',
  configFile: '/etc/trunnion/config.yaml',
};

const stateHome = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');
export const SIMULATOR: Home = { host: '127.0.0.1', state: join(stateHome, 'trunnion-sim') };

export const JSON_OPTION = { json: { type: 'boolean', about: 'print JSON' } } as const;

export const CONFIG_OPTION = {
  config: valued('FILE', 'read this configuration file', `${ROBOT.configFile}, if it exists`),
};

/** The options that say which robot is meant: the one of this board, or a simulated one. */
export const PLACE_OPTIONS = {
  simulated: { type: 'boolean', about: 'the simulated robot of npm start or trunnion-sim' },
  state: valued('DIR', 'its state folder', `${ROBOT.state}; with --simulated ~/.local/state/trunnion-sim`),
} as const;

interface Asked {
  readonly simulated?: boolean | undefined;
  readonly state?: string | undefined;
  readonly config?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
}

/** A robot on this machine, as a command reaches it. */
export interface Place {
  readonly isSimulated: boolean;
  /** Of the daemon's socket for `trunnion stop`. */
  readonly socket: string;
  /** Throws `bad-config`. */
  config(): Config;
  /** The same without the configuration file. */
  defaults(): Config;
}

export function placeOf({ simulated: isSimulated = false, ...asked }: Asked): Place {
  const home = isSimulated ? SIMULATOR : ROBOT;
  return {
    isSimulated,
    socket: isSimulated ? simulatorSocket(asked.state ?? home.state) : breakGlassPath(RUNTIME_FOLDER),
    config: () => configAt(home, asked),
    defaults: () => loadConfig(undefined, asked, home),
  };
}

/** Throws `bad-config`. */
export function configAt(home: Home, { config, ...overrides }: Asked): Config {
  const usual = home.configFile !== undefined && existsSync(home.configFile) ? home.configFile : undefined;
  return loadConfig(config ?? usual, overrides, home);
}
