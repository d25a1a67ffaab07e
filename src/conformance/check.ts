import { isVisual } from '../core/loop-controllers.js';
import { type GainSet, type Loop, MODES, type Mode, type Unit } from '../core/units.js';
import { gainsChecksum } from '../protocol/codec.js';
import {
  type FieldValues,
  gainsRegister,
  REGISTERS,
  type Register,
  TAKES_EFFECT_MS,
} from '../protocol/registers.js';
import { type Procedure, type Shown, SILENCE_MS, same } from './host.js';

/** A sentence of docs/motor-protocol.md, and a check of it. */
export interface Check {
  readonly says: string;
  /** What the check is about, if the sentence has several checks. */
  readonly about?: string;
  readonly ask: Procedure;
}

type CheckGroup = Readonly<Record<string, Procedure>>;

/** The checks of some sentences, in their order. A sentence has one check, or several by what they are about. */
export function listed(sentences: Readonly<Record<string, Procedure | CheckGroup>>): readonly Check[] {
  return Object.entries(sentences).flatMap(([says, ask]): Check[] =>
    typeof ask === 'function' || Array.isArray(ask)
      ? [{ says, ask }]
      : Object.entries(ask).map(([about, part]) => ({ says, about, ask: part })),
  );
}

/** One check of each register. */
export function each(registers: readonly Register[], ask: (register: Register) => Procedure): CheckGroup {
  return Object.fromEntries(registers.map(one => [one.name, ask(one)]));
}

/** One check of each mode. `auto` is last, because it may move most. */
export function eachMode(ask: (name: Mode) => Procedure): CheckGroup {
  return Object.fromEntries([...MODES].reverse().map(name => [name, ask(name)]));
}

/** The optional registers. A flag of the same name announces each. */
export const OPTIONAL = ['guarded_excitation', 'build', 'motion'] as const;

/** Passes without this optional register. */
export function ifHas(register: (typeof OPTIONAL)[number], ...steps: Procedure[]): Procedure {
  return async host => {
    if ((await host.status())[register]) await host.take(steps);
  };
}
export const ifGuarded = (...steps: Procedure[]) => ifHas('guarded_excitation', ...steps);

export const wait =
  (ms: number): Procedure =>
  host =>
    host.wait(ms);
export const effect = wait(TAKES_EFFECT_MS);

export function write<R extends Register>(register: R, values: FieldValues<R>): Procedure {
  return host => host.write(register, values);
}

export const heartbeat = (silence_ms: number) => write(REGISTERS.heartbeat, { count: 0, silence_ms });
export const latch = (stop: 0 | 1): Procedure => [write(REGISTERS.stop, { stop }), effect];
export const enter = (mode: Mode): Procedure => [
  write(REGISTERS.mode, { mode: MODES.indexOf(mode) }),
  effect,
];

/** Whether heartbeats are sent from now on. */
export function beats(isBeating: boolean): Procedure {
  return async host => {
    host.isBeating = isBeating;
  };
}

/** Gives torque, unless the mode was changed before, in manual. Heartbeats keep it on, and end with this program. */
export const release: Procedure = [heartbeat(SILENCE_MS), beats(true), latch(0)];

/** The host is silent until the controller takes torque off. Then heartbeats return. */
export const silence: Procedure = [beats(false), heartbeat(20), wait(60), beats(true), heartbeat(SILENCE_MS)];

function sameValues<Seen extends object>(what: string, seen: Seen, wanted: Partial<Seen>): void {
  const values = new Map(Object.entries(seen));
  for (const [name, value] of Object.entries(wanted)) same(`${what}.${name}`, values.get(name), value);
}

/** The register has these values now. */
export function reads<R extends Register>(register: R, wanted: Partial<FieldValues<R>>): Procedure {
  return async host => sameValues(register.name, await host.read(register), wanted);
}

/** The status shows this, after some time. */
export function shows(wanted: Shown, afterMs = 0): Procedure {
  return [wait(afterMs), async host => sameValues('status', await host.status(), wanted)];
}

/** The telemetry shows that no loop drives a motor. */
export const withoutTorque: Procedure = async host => {
  const seen = await host.telemetry();
  for (const loop of host.unit.loops) {
    const shown = (what: string) => seen[`${loop.name}.${what}`];
    same(`${loop.name}.setpoint`, shown('setpoint'), isVisual(loop) ? 0 : shown('measured'));
    if (!isVisual(loop)) same(`${loop.name}.output`, shown('output'), 0);
  }
};

/** Writes the values, which must be in force and read back in time. */
export function readsBack<R extends Register>(register: R, values: FieldValues<R>): Procedure {
  return [write(register, values), effect, reads<Register>(register, values)];
}

/** The steps do not change this field of the status, also when they must be in force. */
export function keeps(field: 'active_checksum' | 'refused', ...steps: Procedure[]): Procedure {
  return async host => {
    const { [field]: before } = await host.status();
    await host.take([...steps, effect, shows({ [field]: before })]);
  };
}

/**
 * Brings the controller to the state in which each check begins: latched, in manual, without excitation, and without
 * a limit of host silence.
 */
export const rest: Procedure = [
  beats(false),
  write(REGISTERS.stop, { stop: 1 }),
  heartbeat(0),
  write(REGISTERS.excitation, { slot: 0, amplitude: 0, period_s: 1 }),
  enter('manual'),
  latch(1),
  shows({ stopped: true }),
];

/** Gains that differ from loop to loop. */
export function someGains({ loops }: Unit, kp = 1): GainSet {
  return Object.fromEntries(loops.map(({ name, slot }) => [name, { kp: kp + slot, ki: 0.5, kd: -2 }]));
}

export function stage(gains: GainSet, loops: readonly Loop[]): Procedure {
  return loops.map(({ name, slot }) => write(gainsRegister(slot), { kp: 0, ki: 0, kd: 0, ...gains[name] }));
}

/** Refuses to commit unless the stop is latched, so that nothing moves. */
export function commit(checksum: number): Procedure {
  return [shows({ stopped: true }), write(REGISTERS.commit, { checksum })];
}

export function giveGains(unit: Unit, gains: GainSet): Procedure {
  return [stage(gains, unit.loops), commit(gainsChecksum(unit, gains)), effect];
}
