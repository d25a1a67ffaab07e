import { type Clock, pause } from '../core/clock.js';
import { type GainSet, type Loop, MODES, type Mode, type Unit } from '../core/units.js';
import type { I2cBus } from '../hardware/ports.js';
import { bitNames, decodeFrame, encodeFrame, gainsChecksum } from '../protocol/codec.js';
import {
  FAULTS,
  type FieldValues,
  FLAGS,
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
  telemetryRegister,
} from '../protocol/registers.js';

/** Things to do or to ask over the bus, in their order. Rejects with Differs if the controller differs from the page. */
export type Procedure = ((host: Host) => Promise<void>) | Procedure[];

/** The controller differs from docs/motor-protocol.md. The message says what the controller did. */
export class Differs extends Error {}

export function same(what: string, seen: unknown, wanted: unknown): void {
  const [is, should] = [seen, wanted].map(value =>
    Buffer.isBuffer(value) ? value.toString('hex') : JSON.stringify(value),
  );
  if (is !== should) throw new Differs(`${what}: ${is}, not ${should}`);
}

/** Throws if the value is further away than `most`. */
export function near(what: string, seen: number, wanted: number, most: number): void {
  if (Math.abs(seen - wanted) > most) throw new Differs(`${what}: ${seen}, not ${wanted}`);
}

type Sign = (typeof FLAGS)[number] | (typeof FAULTS)[number];
type Numbers = Omit<FieldValues<typeof REGISTERS.status>, 'mode' | 'flags' | 'faults'>;
/** Values of the status, and for each flag or fault whether it is shown. */
export type Shown = Partial<Numbers & { mode: Mode } & Record<Sign, boolean>>;

export interface HostParts {
  readonly unit: Unit;
  readonly bus: I2cBus;
  readonly clock: Clock;
  /** If this aborts, the next transaction or wait rejects. */
  readonly signal?: AbortSignal;
}

const BEAT_MS = 50;
/** How often the distances of the loops are checked while motors may have torque. */
const WATCH_MS = 2;
/** If the host dies during the checks, the controller takes its torque off after this time. */
export const SILENCE_MS = 300;

/** The amplitude with which the checks move a loop. */
export function amplitudeOf({ maxAmplitude }: Loop): number {
  return Math.fround(maxAmplitude / 10);
}

/** A loop that is further from its setpoint than this runs away. */
export function guardOf(loop: Loop): number {
  return Math.fround(3 * amplitudeOf(loop));
}

/** Talks to one controller as a host does. Latches the stop if a loop that drives motors runs away. */
export class Host {
  readonly unit: Unit;
  readonly #parts: HostParts;
  /** While the unit may have torque, heartbeats are sent and the loops are watched. */
  isBeating = false;
  /** A loop has run away. Nothing may be released again. */
  hasRunAway = false;

  constructor(parts: HostParts) {
    this.unit = parts.unit;
    this.#parts = parts;
  }

  async take(step: Procedure): Promise<void> {
    if (typeof step === 'function') await step(this);
    else for (const one of step) await this.take(one);
  }

  async bytes(place: number, count: number): Promise<Buffer> {
    this.#parts.signal?.throwIfAborted();
    return this.#parts.bus.readBlock(this.unit.address, place, count);
  }

  async writeBytes(place: number, data: Buffer): Promise<void> {
    this.#parts.signal?.throwIfAborted();
    await this.#parts.bus.writeBlock(this.unit.address, place, data);
  }

  async read<R extends Register>(register: R): Promise<FieldValues<R>> {
    return decodeFrame(this.unit.address, register, await this.bytes(register.address, frameBytes(register)));
  }

  write<R extends Register>(register: R, values: Readonly<FieldValues<R>>): Promise<void> {
    return this.writeBytes(register.address, encodeFrame(this.unit.address, register, values));
  }

  async status(): Promise<Shown> {
    const { mode, flags, faults, ...numbers } = await this.read(REGISTERS.status);
    const shown: readonly Sign[] = [...bitNames(FLAGS, flags), ...bitNames(FAULTS, faults)];
    const signs = [...FLAGS, ...FAULTS].map(name => [name, shown.includes(name)]);
    return { ...numbers, mode: MODES[mode], ...Object.fromEntries(signs) };
  }

  async wait(ms: number): Promise<void> {
    const { clock, signal } = this.#parts;
    const endMs = clock.nowMs() + ms;
    for (let leftMs = ms; leftMs > 0; leftMs = endMs - clock.nowMs()) {
      if (this.isBeating) await this.write(REGISTERS.heartbeat, { count: 0, silence_ms: SILENCE_MS });
      await pause(clock, Math.min(this.isBeating ? WATCH_MS : BEAT_MS, leftMs));
      signal?.throwIfAborted();
      if (this.isBeating) await this.#watch();
    }
  }

  /** The telemetry now, by the names of its fields. */
  telemetry(): Promise<Readonly<Record<string, number>>> {
    return this.read(telemetryRegister(this.unit));
  }

  /** Latches the stop. Rejects with Differs. */
  async runsAway(what: string): Promise<never> {
    this.hasRunAway = true;
    await this.write(REGISTERS.stop, { stop: 1 });
    throw new Differs(what);
  }

  async #watch(): Promise<void> {
    const seen = await this.telemetry();
    for (const loop of this.unit.loops.filter(({ outputQuantity }) => outputQuantity === 'V')) {
      const distance = (seen[`${loop.name}.setpoint`] ?? 0) - (seen[`${loop.name}.measured`] ?? 0);
      if (Math.abs(distance) > guardOf(loop)) await this.runsAway(`${loop.name} ran away`);
    }
  }

  /** The gains in force; undefined if there are none, or other gains are staged. */
  async gains(): Promise<GainSet | undefined> {
    const gains: Record<string, GainSet[string]> = {};
    for (const { name, slot } of this.unit.loops) gains[name] = await this.read(gainsRegister(slot));
    const { gains_committed, active_checksum } = await this.status();
    return gains_committed && active_checksum === gainsChecksum(this.unit, gains) ? gains : undefined;
  }
}
