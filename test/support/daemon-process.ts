import { pino } from 'pino';
import type { Clock } from '../../src/core/clock.js';
import { type Daemon, type DaemonParts, startBehind } from '../../src/daemon/start.js';
import { type Hardware, isMissing } from '../../src/hardware/ports.js';
import { darkenPin } from '../../src/robot/laser.js';
import type { Disk, DiskFile } from '../../src/storage/disk.js';
import { noLock } from './journal-lines.js';
import type { MemoryCall, Sent } from './memory-call.js';
import { MemoryPort } from './memory-port.js';
import { quickProposals } from './quick-proposals.js';

/** A clean shutdown that takes longer is aborted, as in src/daemon/run.ts. */
const STOP_MS = 2000;

/** A daemon in simulated time, from its start to its end. The hardware and the disk outlive it. */
export class DaemonProcess {
  /** The lines of its log on stdout. */
  readonly logged: Readonly<Record<string, unknown>>[] = [];
  readonly #port: MemoryPort;
  readonly #parts: DaemonParts;
  readonly #clock: Clock;
  #starting: Promise<Daemon> | undefined;
  #alive = true;

  constructor(parts: Omit<DaemonParts, 'disk' | 'lock' | 'log'> & { readonly disk: Disk }) {
    const { clock, disk, hardware } = parts;
    const isAlive = () => this.#alive;
    this.#clock = clock;
    this.#port = new MemoryPort(clock);
    this.#parts = {
      propose: quickProposals(),
      ...parts,
      clock: mortalClock(clock, isAlive),
      disk: mortal(disk, isAlive),
      hardware: mortalHardware(hardware, isAlive),
      lock: noLock,
      log: pino({}, { write: line => this.logged.push(JSON.parse(line)) }),
    };
  }

  get listens(): boolean {
    return this.#alive && this.#port.serves;
  }

  async start(): Promise<void> {
    darkenPin(this.#parts.hardware, this.#parts.log);
    this.#starting = startBehind(this.#port, this.#parts);
    await this.#starting;
  }

  /** Sends a request. Returns undefined if the daemon does not listen. */
  send<Body = unknown>(sent: Sent): MemoryCall<Body> | undefined {
    return this.listens ? this.#port.send<Body>(sent) : undefined;
  }

  /** Ends the daemon as SIGTERM does. Resolves when the process is gone. */
  async close(): Promise<void> {
    darkenPin(this.#parts.hardware, this.#parts.log);
    const inOrder = this.#starting?.then(daemon => daemon.close());
    await Promise.race([inOrder, new Promise<void>(resolve => this.#clock.after(STOP_MS, resolve))]);
    this.kill();
  }

  /** Kills the daemon, as SIGKILL and a power cut do. Nothing that it began has an effect after this. */
  kill(): void {
    this.#alive = false;
    this.#port.cut();
  }
}

function mortalHardware({ bus, laser, interlock, ...rest }: Hardware, isAlive: () => boolean): Hardware {
  return {
    ...rest,
    bus: mortal(bus, isAlive),
    laser: isMissing(laser)
      ? laser
      : {
          read: () => laser.read(),
          write: on => {
            if (isAlive()) laser.write(on);
          },
        },
    ...(interlock !== undefined && {
      interlock: {
        isClosed: () => interlock.isClosed(),
        onOpen: listener =>
          interlock.onOpen(() => {
            if (isAlive()) listener();
          }),
      },
    }),
    close: async () => undefined,
  };
}

function mortalClock(clock: Clock, isAlive: () => boolean): Clock {
  return {
    nowMs: () => clock.nowMs(),
    wallTime: () => clock.wallTime(),
    after: (delayMs, act) => clock.after(delayMs, () => isAlive() && act()),
  };
}

/**
 * Wraps a port for one daemon. After the daemon's death its pending calls never settle, and it can make no new ones.
 */
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
