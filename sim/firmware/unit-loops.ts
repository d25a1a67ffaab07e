import type { Excitation, GainSet, Mode, Rates, Unit, UnitName } from '../../src/core/units.js';
import type { Reading } from '../../src/schemas/telemetry.js';

/** The firmware's commands to its loops. The numbers are finite, but may be very large. */
export interface LoopCommand {
  readonly mode: Mode;
  /** Without torque no motor has voltage, and the loops only measure. */
  readonly torque: boolean;
  readonly gains: GainSet;
  /** Used in debug mode only. */
  readonly excitation: Excitation;
  /** How fast a motion moves each axis. All 0 without a motion, and outside manual mode. */
  readonly rates: Rates;
}

/** The readings of a loop, in the quantities of units.ts. */
export type LoopReading = Reading;

/** Position and heading of the chassis on the floor. */
export interface Pose {
  readonly xM: number;
  readonly yM: number;
  /** The heading, from -pi to pi. */
  readonly headingRad: number;
}

/** The control loops of one unit as its firmware runs them, on the simulated mechanics. */
export interface UnitLoops {
  /** Runs one loop period: sensors, loops, motor voltages. */
  tick(command: LoopCommand): void;
  /** The readings of the last tick, by the name of the loop. */
  readonly readings: Readonly<Record<string, LoopReading>>;
  /** The number of edges of the excitation so far. A tick that increases it has already used the new setpoint. */
  readonly edges: number;
  readonly targetVisible: boolean;
  readonly pose: Pose | undefined;
  /** The true state, which no sensor measures. */
  readonly axes: Readonly<Record<string, unknown>>;
  /** Removes the excitation from the setpoint at once. The outputs do not jump. */
  dropExcitation(): void;
  /** The controller restarts. Integrators and filters are reset; the mechanics are not. */
  reset(): void;
}

export interface Physics {
  readonly loops: Readonly<Record<UnitName, UnitLoops>>;
  readonly loopRateHz: number;
  /** Called after the ticks of both units. The simulation advances by one loop period. */
  step(): void;
}

export const AT_REST: LoopReading = { setpoint: 0, measured: 0, output: 0 };

/** Loops of a unit in which nothing moves, for firmware without physics. */
export function standstill(unit: Unit): UnitLoops {
  return {
    tick: () => undefined,
    readings: Object.fromEntries(unit.loops.map(loop => [loop.name, AT_REST])),
    edges: 0,
    targetVisible: false,
    pose: unit.hasPose ? { xM: 0, yM: 0, headingRad: 0 } : undefined,
    axes: {},
    dropExcitation: () => undefined,
    reset: () => undefined,
  };
}
