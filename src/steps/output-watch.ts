import type { Clock } from '../core/clock.js';
import { UNIT_LIST, type UnitName } from '../core/units.js';
import type { Readings } from '../protocol/telemetry.js';
import type { Robot } from '../robot/robot.js';
import type { StepCapture } from '../robot/step-capture.js';

/** How long readings are kept: for the longest half wave, and until its capture has been read out. */
const KEPT_MS = 14_000;
/** The fewest readings from which a share is computed. */
const FEWEST = 20;
/** Readings whose setpoint is within this part of the step from the edge's setpoints belong to that edge. */
const NEAR = 0.2;

interface Reading {
  readonly atMs: number;
  readonly telemetry: Readings;
}

/**
 * Remembers the outputs of an excited unit's loops from the telemetry of each poll, because captures hold setpoint and
 * measured value only.
 */
export class OutputWatch {
  readonly #robot: Robot;
  readonly #clock: Clock;
  readonly #readings = new Map<UnitName, Reading[]>();
  readonly #end: () => void;

  constructor(robot: Robot, clock: Clock) {
    this.#robot = robot;
    this.#clock = clock;
    this.#end = robot.polled.add(() => {
      for (const { name } of UNIT_LIST) this.#look(name);
    });
  }

  close(): void {
    this.#end();
  }

  /** The output after the edge of the capture, poll by poll; undefined where too few polls saw it. */
  outputOf({ unit, loop, setpoint, rateHz, decimation }: StepCapture): number[] | undefined {
    const readings = this.#readings.get(unit) ?? [];
    const [from = 0] = setpoint;
    const to = setpoint.at(-1) ?? from;
    const lengthMs = (1000 * decimation * setpoint.length) / rateHz;
    const lastMs = readings.at(-1)?.atMs ?? 0;
    const isNear = (reading: Reading | undefined, value: number) =>
      Math.abs((reading?.telemetry.loops[loop]?.setpoint ?? Number.NaN) - value) < NEAR * Math.abs(to - from);
    // The newest such edge that lies far enough back, since waves repeat and a capture is read out before the next edge
    // of its kind is over.
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
    // After a failed poll the telemetry is still that of the poll before.
    if (known.at(-1)?.telemetry === telemetry) return;
    const atMs = this.#clock.nowMs();
    known.push({ atMs, telemetry });
    const [oldest] = known;
    if (oldest !== undefined && oldest.atMs < atMs - KEPT_MS) known.shift();
    this.#readings.set(unit, known);
  }
}
