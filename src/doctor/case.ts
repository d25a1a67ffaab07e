import { memberOf } from './finding.js';
import type { System, User } from './system.js';

/** The part of the configuration that doctor uses. */
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

/** The facts that every check may need before it looks. */
export interface Case {
  readonly system: System;
  readonly config: DoctorConfig;
  /**
   * The problem of the configuration, in which case `config` is that of the defaults; undefined where it is right.
   */
  readonly configProblem: string | undefined;
  /** The version of this program. */
  readonly version: string;
  readonly url: string;
  /** The daemon's status, over HTTP or, of a closed robot, at its socket for root. */
  readonly status: unknown;
  /** Whether a daemon answers over HTTP and says nothing to whoever has no token. */
  readonly isClosed: boolean;
  /** Whether a simulator answers in the daemon's place, which knows nothing of this board. */
  readonly simulatorAnswers: boolean;
  /** Whether a daemon runs. Bus, pin and state folder are in its use then, and are left alone. */
  readonly daemonRuns: boolean;
  /** Properties of the unit, as systemd shows them; undefined without systemd or the unit. */
  readonly service: Readonly<Record<string, string>> | undefined;
  /** The user that the daemon runs as: the unit's, or whoever runs doctor. */
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
 * Whether a daemon runs, on whatever port: it has a lock on the state folder and one on the device of the bus.
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

/** Major and minor number as the kernel writes them in /proc/locks. */
function kernelName(device: number): string {
  const major = (device >>> 8) & 0xfff;
  const minor = (device & 0xff) | ((device >>> 12) & 0xfff00);
  return [major, minor].map(part => part.toString(16).padStart(2, '0')).join(':');
}

/** Whether the service is up, or between two attempts of a daemon that falls at once. */
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
