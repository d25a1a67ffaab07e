import { pino } from 'pino';
import { createPhysics } from '../../sim/robot-physics.js';
import { simRoutes } from '../../sim/sim-routes.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import type { Role } from '../../src/access/roles.js';
import { hashOf, newSecret } from '../../src/access/token.js';
import { writeTokens } from '../../src/access/token-file.js';
import { loadConfig } from '../../src/config/config.js';
import type { Config } from '../../src/config/settings.js';
import { systemClock } from '../../src/core/clock.js';
import { type Daemon, start } from '../../src/daemon/start.js';
import type { Hardware } from '../../src/hardware/ports.js';
import { type Disk, realDisk } from '../../src/storage/disk.js';
import { call, eventually, suiteFolder } from './daemon.js';
import { noLock } from './journal-lines.js';

/** Settings that differ from the usual ones, by section. */
export type Sections = { readonly [Section in keyof Config]?: Partial<Config[Section]> };

export function configWith(usual: Config, sections: Sections): Config {
  const names = Object.keys(usual) as (keyof Config)[];
  return Object.fromEntries(names.map(name => [name, { ...usual[name], ...sections[name] }])) as Config;
}

/** Wraps the parts between the daemon and the simulated robot or the real disk. */
export interface Around {
  laser?(simulated: Hardware['laser']): Hardware['laser'];
  disk?(real: Disk): Disk;
}

/** Starts a daemon before each suite, and ends it afterwards. It runs in this process, with real HTTP and real files. */
export function simulatedDaemon(sections: Sections = {}, around: Around = {}) {
  let daemon: Daemon | undefined;
  let sim: SimulatedRobot | undefined;
  const logged: Record<string, unknown>[] = [];

  const rootSocket = () => `${folder()}.sock`;
  before(async () => {
    sim = new SimulatedRobot({ clock: systemClock, physics: createPhysics({ seed: 1 }) });
    const usual = loadConfig(undefined, { port: 0 }, { host: '127.0.0.1', state: folder() });
    const { hardware } = sim;
    daemon = await start({
      config: configWith(usual, sections),
      // A machine may have no program `flock`.
      lock: noLock,
      hardware: {
        ...hardware,
        laser: around.laser?.(hardware.laser) ?? hardware.laser,
        close: async () => undefined,
      },
      disk: around.disk?.(realDisk) ?? realDisk,
      log: pino({}, { write: line => logged.push(JSON.parse(line)) }),
      clock: systemClock,
      rootSocket: rootSocket(),
      extraRoutes: simRoutes(sim),
    });
  });
  after(() => daemon?.close());
  const folder = suiteFolder();

  const now = () => {
    if (daemon === undefined || sim === undefined) throw new Error('not started');
    return { daemon, sim };
  };
  return {
    get url() {
      return now().daemon.url;
    },
    get port() {
      return Number(new URL(now().daemon.url).port);
    },
    get sim() {
      return now().sim;
    },
    /** The state folder. */
    get folder() {
      return folder();
    },
    /** The path of the socket for root. */
    get rootSocket() {
      return rootSocket();
    },
    logged,
    get: (path: string) => call(now().daemon.url, 'GET', path),
    post: (path: string, body?: unknown) => call(now().daemon.url, 'POST', path, body),
    /** Gives the robot a list with only this token. Resolves with its secret when the daemon has read the list. */
    requireToken: async (name: string, role: Role) => {
      const secret = newSecret();
      await writeTokens(realDisk, folder(), [{ name, role, hash: hashOf(secret) }]);
      await eventually(
        async () => (await call(now().daemon.url, 'GET', '/api/session')).body.access === 'closed',
      );
      return secret;
    },
  };
}
