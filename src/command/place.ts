import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { BOARD_PATH } from '../access/board.js';
import {
  askAsRoot,
  type RootAnswer,
  RUNTIME_FOLDER,
  rootSocket,
  simulatorSocket,
} from '../access/root-socket.js';
import { type Config, loadConfig } from '../config/config.js';
import { badConfig } from '../config/config-file.js';
import { PORTS } from '../config/settings.js';
import { errnoOf } from '../core/errors.js';
import { Failure } from './command.js';

/** The default files of a robot, and the address on which it listens by default. */
export interface Home {
  readonly host: string;
  readonly state: string;
  /** The configuration file that is read if it exists and no other is named. */
  readonly configFile?: string | undefined;
}

export const ROBOT: Home & { readonly configFile: string } = {
  host: '0.0.0.0',
  state: '/var/lib/trunnion',
  configFile: '/etc/trunnion/config.yaml',
};

const stateHome = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');
export const SIMULATOR: Home = { host: '127.0.0.1', state: join(stateHome, 'trunnion-sim') };

/** The values of options about a robot. They override its configuration file. */
export interface Asked {
  readonly simulated?: boolean | undefined;
  readonly state?: string | undefined;
  readonly config?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
}

/** A robot on this machine. */
export interface Place {
  readonly isSimulated: boolean;
  /** The path of the daemon's socket for root. */
  readonly socket: string;
}

export function homeOf({ simulated }: Asked): Home {
  return simulated ? SIMULATOR : ROBOT;
}

export function placeOf({ simulated: isSimulated = false, state = SIMULATOR.state }: Asked): Place {
  return { isSimulated, socket: isSimulated ? simulatorSocket(state) : rootSocket(RUNTIME_FOLDER) };
}

/** Throws `bad-config`. */
export function configOf(home: Home, { config, host, port, state }: Asked): Config {
  const usual = home.configFile !== undefined && existsSync(home.configFile) ? home.configFile : undefined;
  return loadConfig(config ?? usual, { host, port: portOf(port), state }, home);
}

function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const { minimum, maximum } = PORTS;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= minimum && port <= maximum) return port;
  throw badConfig([`--port takes a number from ${minimum} to ${maximum}, not ${text}`]);
}

/**
 * Resolves with the answer of the daemon's socket. Throws a `Failure` if there is none. `noDaemon` is the
 * text of the failure if no daemon runs. `cure` is a part of the text if the daemon hangs.
 */
export async function askDaemon(
  { socket, isSimulated }: Place,
  method: 'GET' | 'POST',
  path: string,
  {
    command,
    noDaemon = "No robot's daemon runs here (systemctl status trunnion).",
    cure = '',
  }: { command: string; noDaemon?: string; cure?: string },
): Promise<RootAnswer> {
  return askAsRoot(socket, method, path).catch((error: unknown) => {
    const errno = errnoOf(error);
    if (errno === 'EACCES') throw new Failure(`Only root may do this: sudo trunnion ${command}`);
    if (errno !== 'ENOENT' && errno !== 'ECONNREFUSED')
      throw new Failure(`The daemon does not answer. ${cure}journalctl -u trunnion says more.`);
    if (!isSimulated) throw new Failure(`${noDaemon} For a simulated robot add --simulated.`);
    throw new Failure(
      'No simulated robot has this state folder. npm start, or trunnion-sim, starts one; --state names another folder.',
    );
  });
}

/** Resolves with the daemon's status and its member `board`. */
export async function boardStatus(place: Place, command: string): Promise<RootAnswer['body']> {
  return (await askDaemon(place, 'GET', BOARD_PATH, { command })).body;
}
