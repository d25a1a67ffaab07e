import type { GainSet, Loop, Mode, Unit } from '../core/units.js';
import { gainsChecksum } from '../protocol/codec.js';
import {
  type FieldValues,
  frameBytes,
  gainsRegister,
  MODE_VALUES,
  REGISTERS,
  type Register,
  TAKES_EFFECT_MS,
} from '../protocol/registers.js';
import { type Host, type Shown, same } from './host.js';

/** One thing that a check does or asks over the bus. Rejects with Differs if the controller differs from the page. */
export type Step = (host: Host) => Promise<void>;

/** A sentence of docs/motor-protocol.md, and a check of it. */
export interface Check {
  readonly says: string;
  /** What the check is about, if the sentence has several checks. */
  readonly about?: string;
  readonly ask: Step;
}

type Ask = Step | readonly Step[];
type Sentences = Readonly<Record<string, Ask | Readonly<Record<string, Ask>>>>;

/** The checks of some sentences, in their order. A sentence has one check, or several by what they are about. */
export function listed(sentences: Sentences): readonly Check[] {
  return Object.entries(sentences).flatMap(([says, asks]): Check[] =>
    isAsk(asks)
      ? [{ says, ask: steps(...[asks].flat()) }]
      : Object.entries(asks).map(([about, ask]) => ({ says, about, ask: steps(...[ask].flat()) })),
  );
}

function isAsk(asks: Sentences[string]): asks is Ask {
  return typeof asks === 'function' || Array.isArray(asks);
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

export const effect: Step = host => host.wait(TAKES_EFFECT_MS);

export function wait(ms: number): Step {
  return host => host.wait(ms);
}

export function heartbeat(silence_ms: number): Step {
  return host => host.heartbeat(silence_ms);
}

export const enter = (mode: Mode): Step =>
  steps(write(REGISTERS.mode, { mode: MODE_VALUES[mode] ?? 0 }), effect);
export const latch = (stop: 0 | 1): Step => steps(write(REGISTERS.stop, { stop }), effect);

/** Gains that differ from loop to loop. */
export function someGains({ loops }: Unit, kp = 1): GainSet {
  return Object.fromEntries(loops.map(({ name, slot }) => [name, { kp: kp + slot, ki: 0.5, kd: -2 }]));
}

export function stage(gains: GainSet, loops: readonly Loop[]): Step {
  return steps(
    ...loops.map(({ name, slot }) => write(gainsRegister(slot), { kp: 0, ki: 0, kd: 0, ...gains[name] })),
  );
}

/** Refuses to commit unless the stop is latched, so that nothing moves. */
export function commit(checksum: number): Step {
  return steps(shows({ stopped: true }), write(REGISTERS.commit, { checksum }));
}

export function giveGains(unit: Unit, gains: GainSet): Step {
  return steps(stage(gains, unit.loops), commit(gainsChecksum(unit, gains)), effect);
}

/**
 * Brings the controller to the state in which each check begins: latched, in manual, without excitation, and without
 * a limit of host silence.
 */
export const rest: Step = async host => {
  host.isBeating = false;
  const slot = host.unit.loops[0]?.slot ?? 0;
  await host.write(REGISTERS.stop, { stop: 1 });
  await host.heartbeat(0);
  await host.write(REGISTERS.excitation, { slot, amplitude: 0, period_s: 1 });
  await steps(enter('manual'), latch(1), shows({ stopped: true }))(host);
};

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
