import type { Config } from '../config/settings.js';
import { isObject } from '../core/json.js';
import { urlOf } from '../daemon/port.js';
import { isStatus, type Status } from '../schemas/status.js';
import { isLockedIn } from '../storage/path-lock.js';
import { errorCode, type Found, fine, memberOf, unknown, wrong } from './finding.js';
import type { System, User } from './linux-system.js';

/** What the doctor is asked to examine. */
export interface Subject {
  readonly config: Config;
  /** What is wrong with the configuration file. `config` then has the defaults. */
  readonly configProblem?: string | undefined;
  /** The socket for root of a simulated robot; undefined for the robot of this board. */
  readonly simulatedAt?: string | undefined;
}

/** The facts that several checks need. */
export interface Case extends Subject {
  readonly system: System;
  readonly url: string;
  /** The daemon's status, from HTTP or, if the robot is closed, from the socket for root. */
  readonly status: Status | undefined;
  /** The version of the running daemon. If it differs from this program's, `status` may be undefined. */
  readonly running: unknown;
  /** Whether the daemon's HTTP interface refuses callers without a token. */
  readonly isClosed: boolean;
  /** Whether a simulator answers instead of the daemon. */
  readonly simulatorAnswers: boolean;
  /** Whether a daemon runs. The doctor then leaves bus, pin and state folder alone. */
  readonly daemonRuns: boolean;
  /** The service's properties from systemd. Undefined without systemd or the service. */
  readonly service: Readonly<Record<string, string>> | undefined;
  /** The service's user. Without a service, the user who runs the doctor. */
  readonly user: User;
}

/** Checks, keyed by name. */
export type Checks = Readonly<Record<string, (asked: Case) => Promise<Found>>>;

export const UNIT = 'trunnion.service';
const PROPERTIES = 'LoadState,UnitFileState,ActiveState,SubState,Result,ExecMainStatus,NRestarts,User';

export async function openCase(system: System, asked: Subject): Promise<Case> {
  const { config, simulatedAt } = asked;
  const isSimulated = simulatedAt !== undefined;
  const url = urlOf({ address: config.http.host, port: config.http.port });
  const atBoard = () => system.boardStatus(simulatedAt);
  const [body, service, ...inUse] = await Promise.all([
    isSimulated
      ? atBoard()
      : URL.canParse(url)
        ? system.getJson(new URL('/api/status', url).href)
        : undefined,
    isSimulated ? undefined : serviceOf(system).catch(() => undefined),
    isLocked(system, config.state.folder).catch(() => false),
    isSimulated
      ? atBoard().then(isObject)
      : isLocked(system, `/dev/i2c-${config.i2c.bus}`).catch(() => false),
  ]);
  const isClosed = memberOf(body, 'code') === 'token-required';
  const shown = isClosed ? await atBoard() : body;
  const running = memberOf(shown, 'version');
  const isOther = running !== undefined && memberOf(shown, 'simulated') !== isSimulated;
  return {
    ...asked,
    system,
    url,
    status: isOther || !isStatus(shown) ? undefined : shown,
    running: isOther ? undefined : running,
    isClosed,
    simulatorAnswers: isOther && !isSimulated,
    daemonRuns: (running !== undefined && !isOther) || isClosed || inUse.includes(true) || isUp(service),
    service,
    user: service?.User ? await userNamed(system, service.User).catch(() => system.user) : system.user,
  };
}

async function serviceOf(system: System): Promise<Record<string, string> | undefined> {
  const text = await system.run('systemctl', 'show', UNIT, '--property', PROPERTIES);
  const pairs = text.split('\n').map(line => line.split(/=(.*)/s, 2));
  const shown: Record<string, string> = Object.fromEntries(pairs.filter(([name]) => name !== ''));
  return shown.LoadState === 'loaded' ? shown : undefined;
}

/** Whether a daemon has locked the path. A daemon locks the state folder and the bus device, whatever its port. */
async function isLocked(system: System, path: string): Promise<boolean> {
  return isLockedIn(await system.readFile('/proc/locks'), await system.stat(path));
}

/** Whether the service runs. False while systemd waits to restart it. */
function isUp(service: Case['service']): boolean {
  if (service === undefined) return false;
  return !['inactive', 'failed'].includes(service.ActiveState ?? '') && service.SubState !== 'auto-restart';
}

async function userNamed(system: System, name: string): Promise<User> {
  const [uid, gids] = await Promise.all([system.run('id', '-u', name), system.run('id', '-G', name)]);
  return { name, uid: Number(uid), gids: gids.trim().split(' ').map(Number) };
}

/**
 * Whether the daemon's user may use the file, judged by its owner, group and mode. `needs` are the permission bits of
 * one class.
 */
export async function mayUse(
  { system, user }: Case,
  path: string,
  needs: number,
  group: string,
): Promise<Found> {
  try {
    const { mode, uid, gid } = await system.stat(path);
    const shift = user.uid === uid ? 6 : user.gids.includes(gid) ? 3 : 0;
    if (user.uid === 0 || ((mode >> shift) & needs) === needs) return fine(`${user.name} may use ${path}`);
    return wrong(
      `${user.name} may not use ${path}`,
      `sudo usermod -aG ${group} ${user.name}, then sudo systemctl restart trunnion; ` +
        'where the group is right, sudo udevadm trigger brings its rules into force',
    );
  } catch (error) {
    return unknown(`${path}: ${errorCode(error)}`);
  }
}
