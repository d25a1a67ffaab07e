import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { BOARD_PATH } from '../access/board.js';
import {
  askAsRoot,
  type RootAnswer,
  RUNTIME_FOLDER,
  rootSocket,
  simulatorSocket,
} from '../access/root-socket.js';
import { configProblem, loadConfig } from '../config/config.js';
import { badConfig } from '../config/config-file.js';
import { type Config, PORTS } from '../config/settings.js';
import { errnoOf } from '../core/errors.js';
import { isObject, parsedJson } from '../core/json.js';
import { isAnyLocked } from '../storage/path-lock.js';
import { STATE_HOME } from '../storage/state-home.js';
import { Failure } from './command.js';

/** The default files of a robot, and the address on which it listens by default. */
export interface Home {
  readonly host: string;
  readonly state: string;
  /** The state folder as the help shows it, if it depends on the user. */
  readonly usualState?: string;
  /** The configuration file that is read if it exists and no other is named. */
  readonly configFile?: string | undefined;
}

export const ROBOT = {
  host: '0.0.0.0',
  state: '/var/lib/trunnion',
  configFile: '/etc/trunnion/config.yaml',
} satisfies Home;

export const USUAL_URL = 'http://127.0.0.1:8080';
const NO_URL = { protocol: '', username: '', password: '', origin: '', pathname: '', hash: '' };
/** A stop is answered within 0.9 s, and a resume within a second. */
const ANSWER_MS = 2000;

export const SIMULATOR = {
  host: '127.0.0.1',
  state: join(STATE_HOME, 'trunnion-sim'),
  usualState: '~/.local/state/trunnion-sim',
} satisfies Home;

/** The values of options about a robot. They override its configuration file. */
export interface PlaceOptions {
  readonly simulated?: boolean | undefined;
  readonly state?: string | undefined;
  readonly config?: string | undefined;
  readonly host?: string | undefined;
  readonly port?: string | undefined;
}

/** A robot on this machine, or one that is asked over HTTP. */
export interface Place {
  readonly isSimulated: boolean;
  /** The path of the daemon's socket for root. */
  readonly socket: string;
  /** Ask over HTTP instead. `url` does not end in a slash. */
  readonly remote?: { readonly url: string; readonly token: string | undefined } | undefined;
  /** The folder and the device that the robot's daemon locks, also if it has no socket. */
  readonly locked?: () => readonly string[];
}

export function homeOf({ simulated }: PlaceOptions): Home {
  return simulated ? SIMULATOR : ROBOT;
}

export function placeOf(asked: PlaceOptions): Place {
  const { simulated: isSimulated = false, state = SIMULATOR.state } = asked;
  if (isSimulated) return { isSimulated, socket: simulatorSocket(state), locked: () => [state] };
  const locked = () => {
    const { config } = configOrDefaults(asked);
    return [config.state.folder, `/dev/i2c-${config.i2c.bus}`];
  };
  return { isSimulated, socket: rootSocket(RUNTIME_FOLDER), locked };
}

/** The daemon of these options. With `url` or `token` it is asked over HTTP. Throws `bad-config`. */
export function reachedBy({
  url,
  token,
  ...asked
}: PlaceOptions & { readonly url?: string | undefined; readonly token?: string | undefined }): Place {
  if (asked.state !== undefined && !asked.simulated)
    throw badConfig(['--state names a simulated robot: add --simulated, or leave it out']);
  if (url === undefined && token === undefined) return placeOf(asked);
  if (asked.simulated)
    throw badConfig(['--simulated asks over the local socket: leave it out, or --url and --token']);
  const { base, linked } = addressOf(url ?? USUAL_URL);
  return { ...placeOf(asked), remote: { url: base, token: token ?? linked ?? process.env.TRUNNION_TOKEN } };
}

/** The address of the daemon, and the token of the link that `token add` prints. The scheme may be missing. Throws `bad-config`. */
function addressOf(text: string) {
  const url = text.includes('://') ? text : `http://${text}`;
  const { protocol, username, password, origin, pathname, hash } = URL.canParse(url) ? new URL(url) : NO_URL;
  if (!/^https?:$/.test(protocol) || username !== '' || password !== '')
    throw badConfig([`--url takes the address of a robot, such as ${USUAL_URL}, not ${text}`]);
  const [, linked] = hash.split('#token=');
  return { base: `${origin}${pathname}`.replace(/\/+$/, ''), linked };
}

/** Throws `bad-config`. */
export function configOf(home: Home, { config, host, port, state }: PlaceOptions): Config {
  const usual = home.configFile !== undefined && existsSync(home.configFile) ? home.configFile : undefined;
  return loadConfig(config ?? usual, { host, port: portOf(port), state }, home);
}

/** As `configOf`. If the configuration has a mistake, the defaults, with what is wrong. */
export function configOrDefaults(asked: PlaceOptions): { config: Config; configProblem?: string } {
  const home = homeOf(asked);
  try {
    return { config: configOf(home, asked) };
  } catch (error) {
    const config = configOf({ ...home, configFile: undefined }, { ...asked, config: undefined });
    return { config, configProblem: configProblem(error) };
  }
}

/** The port that this text names. Throws if it names none. */
export function portOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const { minimum, maximum } = PORTS;
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (port >= minimum && port <= maximum) return port;
  throw badConfig([`--port takes a number from ${minimum} to ${maximum}, not ${text}`]);
}

/** What a failure to ask the daemon says. */
interface Words {
  readonly command: string;
  /** What did not happen because of it. */
  readonly undone?: string;
  /** What to do if the daemon hangs. */
  readonly cure?: string;
}

/** Resolves with the daemon's answer. Throws a `Failure` if there is none. */
export async function askDaemon(
  { socket, isSimulated, remote, locked }: Place,
  method: 'GET' | 'POST',
  path: string,
  { command, undone = '', cure = '' }: Words,
): Promise<RootAnswer> {
  if (remote !== undefined) return askOverHttp(remote, method, path, { undone, cure });
  return askAsRoot(socket, method, path).catch(async (error: unknown) => {
    const errno = errnoOf(error);
    if (errno === 'EACCES')
      throw new Failure(isSimulated ? OF_ANOTHER : `Only root may do this: sudo trunnion ${command}`, 3);
    if (errno !== 'ENOENT' && errno !== 'ECONNREFUSED')
      throw new Failure(
        isSimulated
          ? `${HANGING_SIMULATOR}${undone === '' ? '' : ' It may still do what it was asked when it continues.'}`
          : `The daemon does not answer. ${cure}journalctl -u trunnion says more.`,
        4,
      );
    const isHere = await isAnyLocked(locked?.() ?? []);
    throw new Failure(`${undone}${isHere ? NO_SOCKET : isSimulated ? NO_SIMULATOR : NO_DAEMON}`, 4);
  });
}

const NO_DAEMON =
  'No daemon has the local socket of this board (systemctl status trunnion). For a simulated robot add --simulated.';
const NO_SOCKET =
  'A daemon, or trunnion conformance, holds this robot, but its local socket cannot be reached. Its log says why. Ask the daemon with --url and --token, or restart it as root.';
const OF_ANOTHER = 'The simulated robot belongs to another user.';
const HANGING_SIMULATOR = 'The simulated robot does not answer. End it, and start it again.';
const NO_SIMULATOR =
  'No simulated robot has this state folder. npm start, or trunnion-sim, starts one; --state names another folder.';

/** The headers with a token. If no header takes the token, a wrong one is sent: a stop needs none, so it must not fail. */
export function bearer(token: string | undefined): Record<string, string> {
  return token === undefined ? {} : { authorization: `Bearer ${token.trim().replace(/[^!-~]/g, '?')}` };
}

/** Failures before anything was sent. Any other one may come after the request has arrived. */
const NOT_SENT: readonly string[] = ['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN'];

async function askOverHttp(
  { url, token }: NonNullable<Place['remote']>,
  method: string,
  path: string,
  { undone, cure }: Required<Pick<Words, 'undone' | 'cure'>>,
): Promise<RootAnswer> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const asked = fetch(`${url}${path}`, { method, headers: bearer(token), signal });
  const answer = await asked.catch((error: unknown) => {
    // A daemon that is frozen may still do what it was asked.
    if (signal.aborted) throw new Failure(`The daemon at ${url} does not answer. ${cure}`.trimEnd(), 4);
    const errno = error instanceof Error ? errnoOf(error.cause) : undefined;
    const why = errno === undefined ? '' : ` (${errno})`;
    // `fetch` refuses some ports without a code.
    if (errno !== undefined && !NOT_SENT.includes(errno))
      throw new Failure(`The connection to ${url} failed${why}. ${cure}`.trimEnd(), 4);
    throw new Failure(`${undone}No daemon answers at ${url}${why}.`, 4);
  });
  const text = await answer.text().catch(() => undefined);
  if (text === undefined) throw new Failure(`The daemon at ${url} does not answer. ${cure}`.trimEnd(), 4);
  const body = parsedJson(text);
  // A proxy may have passed the request on.
  const isSure = answer.status < 500;
  if (!isObject(body) || (!isSure && typeof body.code !== 'string'))
    throw new Failure(
      `${isSure ? undone : ''}What answers at ${url} is no daemon. ${isSure ? '' : cure}`.trimEnd(),
      4,
    );
  return { status: answer.status, body };
}

/** The failure of an answer that refuses or fails. `undone` says what did not happen. */
export function refusalOf({ status, body }: RootAnswer, undone = ''): Failure {
  const { code } = body;
  const isMissing = code === 'token-required';
  const detail = isMissing
    ? 'This robot needs a token: add --token TOKEN, or set TRUNNION_TOKEN.'
    : typeof body.detail === 'string'
      ? body.detail
      : 'What answers there is no daemon of this version.';
  const exitCode = status >= 400 && status < 500 ? 3 : 1;
  return new Failure(`${undone}${detail}`, exitCode, { ok: false, code, detail });
}

/** Resolves with the daemon's status. On the board it has the member `board`. */
export async function boardStatus(place: Place, command: string): Promise<RootAnswer> {
  const path = place.remote === undefined ? BOARD_PATH : '/api/status';
  return askDaemon(place, 'GET', path, { command });
}
