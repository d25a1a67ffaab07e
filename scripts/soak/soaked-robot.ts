import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '../bench/server.js';
import { type Part, partAt, partOf } from '../fuzz/valid-values.js';
import type { Complaints } from './complaints.js';
import { FairClock } from './fair-clock.js';

export const UNITS = ['gimbal', 'chassis'] as const;
const FAULTS: readonly unknown[] = [
  { target: 'gimbal', fault: 'unplug' },
  { target: 'chassis', fault: 'brownout' },
  { target: 'gimbal', fault: 'brownout' },
  { target: 'bus', fault: 'corrupt', count: 20 },
  { target: 'chassis', fault: 'nack', count: 30 },
  { target: 'bus', fault: 'timeout', count: 3 },
  { target: 'gimbal', fault: 'hang', count: 1 },
];
/** Within this after the last fault both units are online; when nobody saves any more, they run the journal's gains, too. */
const WELL_MS = 2000;

export interface Insides {
  readonly busyMs: number;
  readonly lateMs: number;
  readonly timers: number;
  readonly handles: number;
  readonly rssMiB: number;
}

/** The daemon of a soak, with what can be done to it. */
export class SoakedRobot {
  readonly server: Server;
  readonly clock: FairClock;

  private constructor(server: Server) {
    this.server = server;
    this.clock = new FairClock(server.pid);
  }

  static async start(folder: string): Promise<SoakedRobot> {
    // Where memory is plenty V8 lets garbage lie for minutes, which would look like a leak. With this little room it cannot,
    // and a real leak ends the daemon.
    const room = ['--max-semi-space-size=1', '--max-old-space-size=64'];
    const program = [...room, 'dist/scripts/soak/daemon.js', '--state', join(folder, 'state')];
    const args = (port: number) => [...program, '--port', String(port)];
    return new SoakedRobot(await Server.start({ name: 'soak', args }, folder));
  }

  /** One fault, a while, and both units are online again in time. */
  async suffer(complaints: Complaints): Promise<void> {
    const fault = FAULTS[Math.floor(Math.random() * FAULTS.length)];
    await this.server.ask('POST', '/sim/faults', fault);
    await delay(Math.random() * 1500);
    await this.server.ask('POST', '/sim/faults', { target: 'bus', fault: 'clear' });
    await this.#becomes(unit => unit.online === true, `online after ${JSON.stringify(fault)}`, complaints);
  }

  /** While nobody asks for anything. */
  async rests(complaints: Complaints): Promise<void> {
    const agrees = (unit: Part) => unit.online === true && partOf(unit.gains).applied === true;
    await this.#becomes(agrees, "running the journal's gains", complaints);
  }

  async #becomes(isWell: (unit: Part) => boolean, what: string, complaints: Complaints): Promise<void> {
    const untilMs = this.clock.nowMs() + WELL_MS;
    for (;;) {
      const status = await this.server.ask('GET', '/api/status');
      if (UNITS.every(name => isWell(partOf(partAt(status, name))))) return;
      if (this.clock.nowMs() > untilMs) {
        complaints.add('promise', `not ${what} within ${WELL_MS} ms: ${JSON.stringify(status)}`);
        return;
      }
      await delay(50);
    }
  }

  /** Rotates the log as logrotate's copytruncate does. */
  rotateLog(): void {
    truncateSync(this.server.log);
  }

  async insides(): Promise<Insides> {
    const { busyMs, lateMs, timers, handles } = partOf(await this.server.ask('GET', '/soak/process'));
    return {
      busyMs: Number(busyMs),
      lateMs: Number(lateMs),
      timers: Number(timers),
      handles: Number(handles),
      rssMiB: this.server.rssMiB,
    };
  }

  /** The kp of the first loop. A save of this run gives every loop the same. */
  async kpInForce(unit: string): Promise<number> {
    const gains = partOf(await this.server.ask('GET', `/api/${unit}/pidconfig`));
    return Number(partOf(Object.values(gains)[0]).kp);
  }

  /** The gains in force, by the first loop's kp, are those of the last save answered 200, or of one under way. */
  async keeps(saved: ReadonlyMap<string, readonly number[]>, complaints: Complaints): Promise<void> {
    for (const [unit, allowed] of saved) {
      const kp = await this.kpInForce(unit);
      if (!allowed.includes(kp))
        complaints.add('promise', `${unit} has kp ${kp} after a kill, not ${allowed}`);
    }
  }
}
