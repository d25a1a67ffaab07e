import { truncateSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Server } from '../../scripts/bench/server.js';
import { type Part, partAt, partOf } from '../fuzz/valid-values.js';

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
/** The limit for recovery in real time, on a busy machine. test/walk checks the promised 2 s in simulated time. */
const RECOVERY_MS = 10_000;

export interface Insides {
  readonly timers: number;
  readonly handles: number;
  readonly longestTurnMs: number;
  readonly rssMiB: number;
}

/** The daemon of a soak test, and the faults that can be injected. */
export class SoakedRobot {
  readonly server: Server;

  private constructor(server: Server) {
    this.server = server;
  }

  static async start(folder: string): Promise<SoakedRobot> {
    // With plenty of memory, V8 keeps garbage for minutes, which looks like a leak. This limit prevents that.
    const room = ['--max-semi-space-size=1', '--max-old-space-size=64'];
    const program = [...room, 'dist/test/soak/daemon.js', '--state', join(folder, 'state')];
    const args = (port: number) => [...program, '--port', String(port)];
    return new SoakedRobot(await Server.start({ name: 'soak', args }, folder));
  }

  /** Injects a fault, clears it after a while, and waits until both units are online again. */
  async suffer(complaints: string[]): Promise<void> {
    const fault = FAULTS[Math.floor(Math.random() * FAULTS.length)];
    await this.server.ask('POST', '/sim/faults', fault);
    await delay(Math.random() * 1500);
    await this.server.ask('POST', '/sim/faults', { target: 'bus', fault: 'clear' });
    await this.#becomes(unit => unit.online === true, `online after ${JSON.stringify(fault)}`, complaints);
  }

  /** Waits until both units run the journal's gains. No caller may save during this time. */
  async agrees(complaints: string[]): Promise<void> {
    const isWell = (unit: Part) => unit.online === true && partOf(unit.gains).applied === true;
    await this.#becomes(isWell, "running the journal's gains", complaints);
  }

  async #becomes(isWell: (unit: Part) => boolean, what: string, complaints: string[]): Promise<void> {
    const untilMs = performance.now() + RECOVERY_MS;
    for (;;) {
      const status = await this.server.ask('GET', '/api/status');
      if (UNITS.every(name => isWell(partOf(partAt(status, name))))) return;
      if (performance.now() > untilMs) {
        complaints.push(`not ${what} within ${RECOVERY_MS} ms: ${JSON.stringify(status)}`);
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
    const { timers, handles, longestTurnMs } = partOf(await this.server.ask('GET', '/soak/process'));
    return {
      timers: Number(timers),
      handles: Number(handles),
      longestTurnMs: Number(longestTurnMs),
      rssMiB: this.server.rssMiB,
    };
  }

  /** The kp of the first loop. Saves of this run give every loop the same kp. */
  async kpInForce(unit: string): Promise<number> {
    const gains = partOf(await this.server.ask('GET', `/api/${unit}/pidconfig`));
    return Number(partOf(Object.values(gains)[0]).kp);
  }

  /** Adds a complaint for each unit whose kp in force is none of the expected ones. */
  async keeps(saved: ReadonlyMap<string, readonly number[]>, complaints: string[]): Promise<void> {
    for (const [unit, expected] of saved) {
      const kp = await this.kpInForce(unit);
      if (!expected.includes(kp)) complaints.push(`${unit} has kp ${kp} after a kill, not ${expected}`);
    }
  }
}
