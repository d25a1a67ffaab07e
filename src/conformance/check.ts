import type { Mode } from '../core/units.js';
import { gainsChecksum } from '../protocol/codec.js';
import { type FieldValues, frameBytes, type Register } from '../protocol/registers.js';
import { type Host, type Shown, same, someGains } from './host.js';

/** One thing that a check does or asks over the bus. Rejects with Differs if the controller differs from the page. */
export type Step = (host: Host) => Promise<void>;

/** A sentence of docs/motor-protocol.md, and a check of it. */
export interface Check {
  readonly says: string;
  readonly about: string;
  readonly ask: Step;
}

/** The checks of one sentence, by what each is about. */
export type Checks = Readonly<Record<string, Step | readonly Step[]>>;

/** The checks of several sentences, in their order. */
export function listed(sentences: Readonly<Record<string, Checks>>): readonly Check[] {
  return Object.entries(sentences).flatMap(([says, checks]) =>
    Object.entries(checks).map(([about, asks]) => ({ says, about, ask: steps(...[asks].flat()) })),
  );
}

/** One check of each thing. */
export function each<T extends string | { readonly name: string }>(
  things: readonly T[],
  ask: (one: T) => Step,
): Readonly<Record<string, Step>> {
  return Object.fromEntries(things.map(one => [typeof one === 'string' ? one : one.name, ask(one)]));
}

export function steps(...all: readonly Step[]): Step {
  return async host => {
    for (const one of all) await one(host);
  };
}

export function repeat(times: number, step: Step): Step {
  return steps(...Array.from({ length: times }, () => step));
}

/** Passes without the optional register `guarded_excitation`. */
export function ifGuarded(...all: readonly Step[]): Step {
  return async host => {
    if (await host.shows('guarded_excitation')) await steps(...all)(host);
  };
}

export const effect: Step = host => host.effect();
export const wait =
  (ms: number): Step =>
  host =>
    host.wait(ms);
export const enter =
  (mode: Mode): Step =>
  host =>
    host.enter(mode);
export const heartbeat =
  (silence_ms: number): Step =>
  host =>
    host.heartbeat(silence_ms);
export const stage =
  (kp: number, loops?: Host['unit']['loops']): Step =>
  host =>
    host.stage(someGains(host.unit, kp), loops);
export const giveGains =
  (kp: number): Step =>
  host =>
    host.giveGains(someGains(host.unit, kp));
/** Commits the gains that `stage` has staged. With `wrongBits`, the checksum is wrong. */
export const commit =
  (kp: number, wrongBits = 0): Step =>
  host =>
    host.commit((gainsChecksum(host.unit, someGains(host.unit, kp)) ^ wrongBits) >>> 0);

export function write<R extends Register>(register: R, values: FieldValues<R>): Step {
  return host => host.write(register, values);
}

/** The register has these values now. */
export function reads<R extends Register>(
  register: R,
  wanted: FieldValues<R> | Partial<FieldValues<R>>,
): Step {
  return async host => {
    const seen: Readonly<Record<string, number>> = await host.read(register);
    for (const [field, value] of Object.entries(wanted))
      same(`${register.name}.${field}`, seen[field], value);
  };
}

/** Writes the values, which must be in force and read back in time. */
export function readsBack<R extends Register>(register: R, values: FieldValues<R>): Step {
  return steps(write(register, values), effect, reads(register, values));
}

export function readsZeros(register: Register): Step {
  return async host => {
    const bytes = await host.bytes(register.address, frameBytes(register));
    same(register.name, bytes, Buffer.alloc(bytes.length));
  };
}

/** The status shows this, after some time. */
export function shows(wanted: Shown, afterMs = 0): Step {
  return host => host.mustShow(wanted, afterMs);
}

/** The steps do not change this field of the status, also when they must be in force. */
export function keeps(field: 'active_checksum' | 'refused', ...all: readonly Step[]): Step {
  return async host => {
    const { [field]: before } = await host.status();
    await steps(...all, effect)(host);
    await host.mustShow({ [field]: before });
  };
}
