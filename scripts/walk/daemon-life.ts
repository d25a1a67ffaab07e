import { createServer, type Server } from 'node:http';
import { pino } from 'pino';
import type { Config } from '../../src/config/config.js';
import type { Clock } from '../../src/core/clock.js';
import { perUnit } from '../../src/core/units.js';
import { darken } from '../../src/daemon/start.js';
import type { Disk, DiskFile } from '../../src/gains/disk.js';
import { GainsStore } from '../../src/gains/gains-store.js';
import { type Hardware, isMissing } from '../../src/hardware/ports.js';
import { createApp } from '../../src/http/app.js';
import { everythingAllowed } from '../../src/robot/permission.js';
import { Robot } from '../../src/robot/robot.js';
import { ask, type Call, type Request } from './caller.js';

/** For the requests under way when the daemon is asked to end, as in src/daemon/start.ts. */
const GRACE_MS = 200;
/** An end that takes longer is cut short, as in src/daemon/serve.ts. */
const STOP_MS = 2000;

/** The daemon from its start to its end, wired as in src/daemon/start.ts, with a server that listens to nobody. */
export class DaemonLife {
  readonly #config: Config;
  readonly #hardware: Hardware;
  readonly #clock: Clock;
  readonly #disk: Disk;
  #alive = true;
  #server: Server | undefined;
  #robot: Robot | undefined;
  #store: GainsStore | undefined;
  readonly #open = new Set<Call>();

  constructor(parts: { config: Config; hardware: Hardware; clock: Clock; disk: Disk }) {
    const isAlive = () => this.#alive;
    this.#config = parts.config;
    this.#clock = mortalClock(parts.clock, isAlive);
    this.#disk = mortal(parts.disk, isAlive);
    const { bus, laser, interlock } = parts.hardware;
    this.#hardware = {
      ...parts.hardware,
      bus: mortal(bus, isAlive),
      laser: isMissing(laser)
        ? laser
        : {
            read: () => laser.read(),
            write: on => {
              if (this.#alive) laser.write(on);
            },
          },
      ...(interlock !== undefined && {
        interlock: {
          isClosed: () => interlock.isClosed(),
          onOpen: listener =>
            interlock.onOpen(() => {
              if (this.#alive) listener();
            }),
        },
      }),
      close: async () => undefined,
    };
  }

  get listens(): boolean {
    return this.#alive && this.#server !== undefined;
  }

  async start(): Promise<void> {
    const config = this.#config;
    const log = pino({ level: 'silent' });
    darken(this.#hardware, log);
    const store = await GainsStore.open({
      folder: '/state',
      clock: this.#clock,
      disk: this.#disk,
      lock: async () => ({ release: async () => undefined }),
    });
    this.#store = store;
    const { hostSilenceMs, pollHz, onControllerReset } = config.supervision;
    const robot = new Robot({
      hardware: this.#hardware,
      store,
      clock: this.#clock,
      permission: everythingAllowed,
      settings: {
        pollHz,
        onControllerReset,
        laserMaxOnS: config.laser.maxOnS,
        silence: perUnit(() => ({ beforeMs: hostSilenceMs, givenMs: hostSilenceMs })),
      },
    });
    this.#robot = robot;
    await robot.start();
    const app = createApp({
      robot,
      log,
      clock: this.#clock,
      version: 'walk',
      allowedHosts: [],
      gainBounds: config.gains.bounds,
      guard: () => undefined,
      consoleFolder: '/none',
    });
    this.#server = createServer(app.callback());
  }

  /** Undefined where nobody listens. */
  ask(request: Request): Call | undefined {
    if (!this.listens || this.#server === undefined) return undefined;
    const call = ask(this.#server, request);
    this.#open.add(call);
    void call.answer.then(() => this.#open.delete(call));
    return call;
  }

  /** As on SIGTERM. Resolves when the process is gone. */
  async close(clock: Clock): Promise<void> {
    darken(this.#hardware, pino({ level: 'silent' }));
    const inOrder = (async () => {
      await this.#robot?.close();
      this.#server = undefined;
      const grace = new Promise<void>(resolve => clock.after(GRACE_MS, resolve));
      await Promise.race([grace, Promise.all([...this.#open].map(({ answer }) => answer))]);
      await this.#store?.close();
    })();
    await Promise.race([inOrder, new Promise<void>(resolve => clock.after(STOP_MS, resolve))]);
    this.kill();
  }

  /** As SIGKILL and a power cut: nothing of it acts any more. */
  kill(): void {
    this.#alive = false;
    for (const call of this.#open) call.hangUp();
  }
}

function mortalClock(clock: Clock, isAlive: () => boolean): Clock {
  return {
    nowMs: () => clock.nowMs(),
    wallTime: () => clock.wallTime(),
    after: (delayMs, act) => clock.after(delayMs, () => isAlive() && act()),
  };
}

/** What it promises reaches the living only: no call of a dead daemon ever settles, and it makes no new one. */
function mortal<T extends object>(port: T, isAlive: () => boolean): T {
  return new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return (...given: unknown[]) => {
        if (!isAlive()) return new Promise(() => undefined);
        const made: unknown = Reflect.apply(member, target, given);
        if (!(made instanceof Promise)) return made;
        return new Promise((resolve, reject) => {
          made.then(
            value => isAlive() && resolve(isFile(value) ? mortal(value, isAlive) : value),
            error => isAlive() && reject(error),
          );
        });
      };
    },
  });
}

function isFile(value: unknown): value is DiskFile {
  return typeof value === 'object' && value !== null && 'append' in value;
}
