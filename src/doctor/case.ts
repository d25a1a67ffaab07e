import { memberOf } from './finding.js';
import type { System, User } from './system.js';

/** The part of the configuration that the doctor uses. */
export interface DoctorConfig {
  readonly http: { readonly host: string; readonly port: number };
  readonly i2c: { readonly bus: number };
  readonly laser: Pin & { readonly interlock: Pin | null };
  readonly state: { readonly folder: string };
}

interface Pin {
  readonly gpio: number;
  readonly activeLow: boolean;
}

/** The facts that several checks need. */
export interface Case {
  readonly system: System;
  readonly config: DoctorConfig;
  /**
   * What is wrong with the configuration file. `config` then has the defaults.
   */
  readonly configProblem: string | undefined;
  /** The version of this program. */
  readonly version: string;
  readonly url: string;
  /** The daemon's status, from HTTP or, if the robot is closed, from the socket for root. */
  readonly status: unknown;
  /** Whether the daemon's HTTP interface refuses callers without a token. */
  readonly isClosed: boolean;
  /** Whether a simulator answers instead of the daemon. */
  readonly simulatorAnswers: boolean;
  /** Whether a daemon runs. The doctor then leaves bus, pin and state folder alone. */
  readonly daemonRuns: boolean;
  /** The properties that systemd shows of the service. Undefined without systemd or the service. */
  readonly service: Readonly<Record<string, string>> | undefined;
  /** The service's user, or without a service the user who runs the doctor. */
  readonly user: User;
}

export const UNIT = 'trunnion.service';
const PROPERTIES = 'LoadState,UnitFileState,ActiveState,SubState,Result,ExecMainStatus,NRestarts,User';

export async function openCase(
  system: System,
  { config, configProblem }: { config: DoctorConfig; configProblem?: string | undefined },
  version: string,
): Promise<Case> {
  const url = urlOf(config.http);
  const [body, service, ...locked] = await Promise.all([
    system.getJson(new URL('/api/status', url).href),
    serviceOf(system),
    isLocked(system, config.state.folder),
    isLocked(system, `/dev/i2c-${config.i2c.bus}`),
  ]);
  const isClosed = memberOf(body, 'code') === 'token-required';
  const simulatorAnswers = memberOf(body, 'simulated') === true;
  const shown = isClosed ? await system.boardStatus() : body;
  const status = memberOf(shown, 'version') === undefined || simulatorAnswers ? undefined : shown;
  return {
    system,
    config,
    configProblem,
    version,
    url,
    status,
    isClosed,
    simulatorAnswers,
    daemonRuns: status !== undefined || isClosed || locked.includes(true) || isUp(service),
    service,
    user: (await serviceUser(system, service)) ?? system.user,
  };
}

function urlOf({ host, port }: DoctorConfig['http']): string {
  if (host === '0.0.0.0') return `http://127.0.0.1:${port}`;
  if (host === '::') return `http://[::1]:${port}`;
  return host.includes(':') ? `http://[${host}]:${port}` : `http://${host}:${port}`;
}

async function serviceOf(system: System): Promise<Record<string, string> | undefined> {
  try {
    const { exitCode, stdout } = await system.run('systemctl', 'show', UNIT, '--property', PROPERTIES);
    if (exitCode !== 0) return undefined;
    const pairs = stdout.split('\n').map(line => line.split(/=(.*)/s, 2));
    const shown: Record<string, string> = Object.fromEntries(pairs.filter(([name]) => name !== ''));
    return shown.LoadState === 'loaded' ? shown : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Whether a daemon has locked the path. A daemon locks the state folder and the bus device, on any port.
 */
async function isLocked(system: System, path: string): Promise<boolean> {
  try {
    const { device, inode } = await system.stat(path);
    const locks = (await system.readFile('/proc/locks')).toString();
    return locks.includes(` ${kernelName(device)}:${inode} `);
  } catch {
    return false;
  }
}

/** Major and minor number in the format of /proc/locks. */
function kernelName(device: number): string {
  const major = (device >>> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  return [major, minor].map(part => part.toString(16).padStart(2, '0')).join(':');
}

/** Whether the service runs. False while systemd waits to restart it. */
function isUp(service: Case['service']): boolean {
  if (service === undefined) return false;
  return !['inactive', 'failed'].includes(service.ActiveState ?? '') && service.SubState !== 'auto-restart';
}

async function serviceUser(system: System, service: Case['service']): Promise<User | undefined> {
  const name = service?.User;
  if (name === undefined || name === '') return undefined;
  try {
    const [uid, gids] = await Promise.all([system.run('id', '-u', name), system.run('id', '-G', name)]);
    if (uid.exitCode !== 0) return undefined;
    return { name, uid: Number(uid.stdout), gids: gids.stdout.trim().split(' ').map(Number) };
  } catch {
    return undefined;
  }
}
