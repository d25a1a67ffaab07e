import type { Clock } from '../core/clock.js';
import { perUnit, UNIT_LIST } from '../core/units.js';
import type { Readings } from '../protocol/telemetry.js';
import type { Robot } from '../robot/robot.js';
import type { StepCapture } from '../robot/robot-event.js';

/** How long readings are kept: the longest half period, and the time to read out its capture. */
const KEPT_MS = 14_000;
/** The fewest readings from which an output is made. */
const FEWEST = 20;
/**
 * A reading belongs to an edge if its setpoint differs from the edge's setpoint by less than this fraction of
 * the step's height.
 */
const NEAR = 0.2;

interface Reading {
  readonly atMs: number;
  readonly telemetry: Readings;
}

/**
 * Records the outputs of an excited unit's loops from telemetry, because captures have no outputs. Call `end`
 * to stop recording.
 */
export function watchOutputs(robot: Robot, clock: Clock) {
  const kept = perUnit((): Reading[] => []);
  const end = robot.polled.add(() => {
    for (const { name } of UNIT_LIST) {
      const { telemetry, mode } = robot.units[name];
      const readings = kept[name];
      if (telemetry === undefined || mode !== 'debug') readings.length = 0;
      // A failed poll leaves the previous telemetry, which is not recorded twice.
      else if (readings.at(-1)?.telemetry !== telemetry) {
        const atMs = clock.nowMs();
        readings.push({ atMs, telemetry });
        if ((readings[0]?.atMs ?? atMs) < atMs - KEPT_MS) readings.shift();
      }
    }
  });

  /** The output after the capture's edge, poll by poll. Undefined if there are too few polls. */
  const outputOf = (capture: StepCapture): number[] | undefined => {
    const { unit, loop, setpoint, rateHz, decimation } = capture;
    const readings = kept[unit];
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
  };
  return { outputOf, end };
}
