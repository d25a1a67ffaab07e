import { truncateSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '../bench/server.js';
import { partAt, partOf } from '../fuzz/valid-values.js';
import type { Complaints } from './complaints.js';

const UNITS = ['gimbal', 'chassis'] as const;
const FAULTS: readonly unknown[] = [
  { target: 'gimbal', fault: 'unplug' },
  { target: 'chassis', fault: 'brownout' },
  { target: 'gimbal', fault: 'brownout' },
  { target: 'bus', fault: 'corrupt', count: 20 },
  { target: 'chassis', fault: 'nack', count: 30 },
  { target: 'bus', fault: 'timeout', count: 3 },
  { target: 'gimbal', fault: 'hang', count: 1 },
];
/** After the last fault every unit is online and has its gains; on a busy machine that takes longer. */
const WELL_MS = 4000;

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

  private constructor(server: Server) {
    this.server = server;
  }

  static async start(folder: string, state: string): Promise<SoakedRobot> {
    const args = (port: number) => ['dist/scripts/soak/daemon.js', '--port', String(port), '--state', state];
    return new SoakedRobot(await Server.start({ name: 'soak', args }, folder));
  }

  /** One fault, a while, and all well again: within the time both units are online and run the journal's gains. */
  async suffer(complaints: Complaints): Promise<void> {
    const fault = FAULTS[Math.floor(Math.random() * FAULTS.length)];
    await this.server.ask('POST', '/sim/faults', fault);
    await delay(Math.random() * 1500);
    await this.server.ask('POST', '/sim/faults', { target: 'bus', fault: 'clear' });
    const untilMs = performance.now() + WELL_MS;
    for (;;) {
      const status = await this.server.ask('GET', '/api/status');
      const isWell = UNITS.every(name => partOf(partAt(status, name)).online === true);
      if (isWell) return;
      if (performance.now() > untilMs) {
        complaints.add(
          'promise',
          `not well ${WELL_MS} ms after ${JSON.stringify(fault)}: ${JSON.stringify(status)}`,
        );
        return;
      }
      await delay(50);
    }
  }

  /** As logrotate's copytruncate does. */
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

  /** The gains in force, by the first loop's kp, are those of the last save answered 200, or of one under way. */
  async keeps(saved: ReadonlyMap<string, readonly number[]>, complaints: Complaints): Promise<void> {
    for (const [unit, allowed] of saved) {
      const gains = partOf(await this.server.ask('GET', `/api/${unit}/pidconfig`));
      const kp = Number(partOf(Object.values(gains)[0]).kp);
      if (!allowed.includes(kp))
        complaints.add('promise', `${unit} has kp ${kp} after a kill, not ${allowed}`);
    }
  }
}
