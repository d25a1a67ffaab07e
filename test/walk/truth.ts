import type { SimulatedRobot } from '../../sim/simulated-robot.js';
import { isGains, isObject } from '../../src/core/json.js';
import {
  type Excitation,
  type GainSet,
  MODES,
  type Mode,
  perUnit,
  type UnitName,
} from '../../src/core/units.js';
import type { LightLoops } from './light-loops.js';

export interface UnitTruth {
  readonly mode: Mode;
  readonly latched: boolean;
  readonly torque: boolean;
  /** Undefined before the first commit. */
  readonly gains: GainSet | undefined;
  /** The excitation in force in debug mode, in the form of `excitationKey`. */
  readonly excitation: string;
  /** Whether a motion moves the unit, and whether it does so where no motion may. */
  readonly moves: boolean;
  readonly strays: boolean;
}

/** The true state of the simulated hardware. */
export interface Truth {
  readonly lit: boolean;
  readonly units: Readonly<Record<UnitName, UnitTruth>>;
}

export const NO_EXCITATION = 'none';

export function excitationKey(excitation: Excitation | undefined): string {
  if (excitation === undefined || excitation.amplitude === 0) return NO_EXCITATION;
  return `${excitation.loop} ${excitation.amplitude} ${excitation.periodS}`;
}

/** Equal gain sets have equal keys. Rounds to float32, as a controller does. */
export function gainsKey(gains: GainSet): string {
  return Object.values(gains)
    .map(({ kp, ki, kd }) => `${Math.fround(kp)}/${Math.fround(ki)}/${Math.fround(kd)}`)
    .join(' ');
}

export function truthOf(robot: SimulatedRobot, loops: Readonly<Record<UnitName, LightLoops>>): Truth {
  const found = robot.truth();
  return {
    lit: member(found.laser, 'level') === 1,
    units: perUnit(unit => unitTruth(found[unit.name], loops[unit.name])),
  };
}

function unitTruth(found: unknown, loops: LightLoops): UnitTruth {
  const gains = member(found, 'gains');
  return {
    mode: MODES.find(mode => mode === member(found, 'mode')) ?? 'manual',
    latched: member(found, 'stopped') === true,
    torque: member(found, 'torque') === true,
    gains: isGainSet(gains) ? gains : undefined,
    excitation: excitationKey(loops.excitation),
    moves: loops.moves,
    strays: loops.strays,
  };
}

function member(of: unknown, name: string): unknown {
  return isObject(of) ? of[name] : undefined;
}

export function isGainSet(value: unknown): value is GainSet {
  return isObject(value) && Object.values(value).every(isGains);
}
