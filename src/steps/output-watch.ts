import type { Clock } from '../core/clock.js';
import { UNIT_LIST, type UnitName } from '../core/units.js';
import type { Readings } from '../protocol/telemetry.js';
import type { Robot } from '../robot/robot.js';
import type { StepCapture } from '../robot/robot-event.js';

/** How long readings are kept: the longest half period, and the time to read out its capture. */
const KEPT_MS = 14_000;
/** With fewer readings than this, there is no output. */
const FEWEST = 20;
/** A reading belongs to an edge if its setpoint differs from the edge's setpoint by less than this part of the step. */
const NEAR = 0.2;

interface Reading {
  readonly atMs: number;
  readonly telemetry: Readings;
}

/**
 * Records the outputs of an excited unit's loops from telemetry. Captures have no outputs.
 */
export class OutputWatch {
  readonly #robot: Robot;
  readonly #clock: Clock;
  readonly #readings = new Map<UnitName, Reading[]>();

  constructor(robot: Robot, clock: Clock) {
    this.#robot = robot;
    this.#clock = clock;
  }

  /** Keeps the latest readings. Call this after every poll. */
  look(): void {
    for (const { name } of UNIT_LIST) this.#look(name);
  }

  /** The output after the capture's edge, poll by poll. Undefined if there are too few polls. */
  outputOf({ unit, loop, setpoint, rateHz, decimation }: StepCapture): number[] | undefined {
    const readings = this.#readings.get(unit) ?? [];
    const [from = 0] = setpoint;
    const to = setpoint.at(-1) ?? from;
    const lengthMs = (1000 * decimation * setpoint.length) / rateHz;
    const lastMs = readings.at(-1)?.atMs ?? 0;
    const isNear = (reading: Reading | undefined, value: number) =>
      Math.abs((reading?.telemetry.loops[loop]?.setpoint ?? Number.NaN) - value) < NEAR * Math.abs(to - from);
    // The newest edge of this kind that is followed by a whole capture. The excitation repeats, so later edges look
    // the same.
    const edge = readings.findLastIndex(
      (reading, index) =>
        reading.atMs + lengthMs <= lastMs && isNear(reading, to) && isNear(readings[index - 1], from),
    );
    const beganMs = readings[edge]?.atMs;
    if (beganMs === undefined) return undefined;
    const output = readings
      .slice(edge)
      .filter(({ atMs }) => atMs < beganMs + lengthMs)
      .map(({ telemetry }) => telemetry.loops[loop]?.output ?? Number.NaN);
    return output.length >= FEWEST && output.every(Number.isFinite) ? output : undefined;
  }

  #look(unit: UnitName): void {
    const { telemetry, mode } = this.#robot.units[unit];
    if (telemetry === undefined || mode !== 'debug') {
      this.#readings.delete(unit);
      return;
    }
    const known = this.#readings.get(unit) ?? [];
    // A failed poll leaves the previous telemetry.
    if (known.at(-1)?.telemetry === telemetry) return;
    const atMs = this.#clock.nowMs();
    known.push({ atMs, telemetry });
    const [oldest] = known;
    if (oldest !== undefined && oldest.atMs < atMs - KEPT_MS) known.shift();
    this.#readings.set(unit, known);
  }
}
