import type { Clock } from '../core/clock.js';
import { type GainSet, MODES, type Mode, type Unit } from '../core/units.js';
import type { I2cBus } from '../hardware/ports.js';
import { bitNames, crc8, decodeFrame, encodeFrame, gainsChecksum } from '../protocol/codec.js';
import {
  FAULTS,
  type FieldValues,
  FLAGS,
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
} from '../protocol/registers.js';

/** The controller differs from docs/motor-protocol.md. The message says what the controller did. */
export class Differs extends Error {}

export function same(what: string, seen: unknown, wanted: unknown): void {
  const [is, should] = [seen, wanted].map(value =>
    Buffer.isBuffer(value) ? value.toString('hex') : JSON.stringify(value),
  );
  if (is !== should) throw new Differs(`${what}: ${is}, not ${should}`);
}

/** A flag or a fault of the status. */
type Sign = (typeof FLAGS)[number] | (typeof FAULTS)[number];
type Numbers = Omit<FieldValues<typeof REGISTERS.status>, 'mode' | 'flags' | 'faults'>;
type Status = Numbers & { readonly mode: Mode | undefined; readonly signs: readonly Sign[] };
/** Values of the status, and for each flag or fault whether it is shown. */
export type Shown = Partial<Numbers & { mode: Mode } & Record<Sign, boolean>>;

const BEAT_MS = 50;
/** If the host dies during the checks, the controller takes its torque off after this time. */
const SILENCE_MS = 300;

/** Talks to one controller as a host does, and decides nothing. */
export class Host {
  readonly unit: Unit;
  readonly #bus: I2cBus;
  readonly #clock: Clock;
  readonly #signal: AbortSignal;
  /** Heartbeats are sent while the unit may have torque. */
  isBeating = false;
  /** True for the last transactions, which take place even after Ctrl-C. */
  isEnding = false;

  constructor(unit: Unit, bus: I2cBus, clock: Clock, signal: AbortSignal) {
    this.unit = unit;
    this.#bus = bus;
    this.#clock = clock;
    this.#signal = signal;
  }

  bytes(place: number, count: number): Promise<Buffer> {
    this.#check();
    return this.#bus.readBlock(this.unit.address, place, count);
  }

  writeBytes(place: number, data: Buffer): Promise<void> {
    this.#check();
    return this.#bus.writeBlock(this.unit.address, place, data);
  }

  /** The data with its CRC. */
  sealed(place: number, data: Uint8Array): Buffer {
    return Buffer.concat([data, Buffer.of(crc8(this.unit.address, place, data))]);
  }

  async read<R extends Register>(register: R): Promise<FieldValues<R>> {
    return decodeFrame(this.unit.address, register, await this.bytes(register.address, frameBytes(register)));
  }

  write<R extends Register>(register: R, values: Readonly<FieldValues<R>>): Promise<void> {
    return this.writeBytes(register.address, encodeFrame(this.unit.address, register, values));
  }

  async status(): Promise<Status> {
    const { mode, flags, faults, ...rest } = await this.read(REGISTERS.status);
    const signs = [...bitNames(FLAGS, flags), ...bitNames(FAULTS, faults)];
    return { ...rest, mode: MODES[mode], signs };
  }

  async shows(sign: Sign): Promise<boolean> {
    return (await this.status()).signs.includes(sign);
  }

  /** Waits, then throws Differs unless the status shows these values, flags and faults. */
  async mustShow(wanted: Shown, afterMs = 0): Promise<void> {
    await this.wait(afterMs);
    const { signs, ...rest } = await this.status();
    const bits = [...FLAGS, ...FAULTS].map(name => [name, signs.includes(name)]);
    const shown: Readonly<Record<string, unknown>> = { ...rest, ...Object.fromEntries(bits) };
    for (const [name, value] of Object.entries(wanted)) same(`${name} in status`, shown[name], value);
  }

  async wait(ms: number): Promise<void> {
    const endMs = this.#clock.nowMs() + ms;
    for (let leftMs = ms; leftMs > 0; leftMs = endMs - this.#clock.nowMs()) {
      if (this.isBeating) await this.heartbeat(SILENCE_MS);
      await new Promise<void>(resolve => this.#clock.after(Math.min(BEAT_MS, leftMs), resolve));
      this.#check();
    }
  }

  heartbeat(silence_ms: number): Promise<void> {
    return this.write(REGISTERS.heartbeat, { count: 0, silence_ms });
  }

  /** The gains in force; undefined if there are none, or other gains are staged. */
  async gains(): Promise<GainSet | undefined> {
    const gains: Record<string, GainSet[string]> = {};
    for (const { name, slot } of this.unit.loops) gains[name] = await this.read(gainsRegister(slot));
    const { signs, active_checksum } = await this.status();
    const areActive = active_checksum === gainsChecksum(this.unit, gains);
    return areActive && signs.includes('gains_committed') ? gains : undefined;
  }

  #check(): void {
    if (!this.isEnding) this.#signal.throwIfAborted();
  }
}
