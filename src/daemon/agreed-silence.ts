import { type Clock, endedWithin } from '../core/clock.js';
import { perUnit, UNIT_LIST, type UnitName } from '../core/units.js';
import type { SilenceLimits } from '../robot/host-silence.js';
import type { Robot } from '../robot/robot.js';
import type { SilenceRecord } from '../storage/silence-record.js';

/** The robot waits no longer than this for the disk. */
const RECORD_MS = 500;

/**
 * Resolves with the host silence that each controller is given: `wantedMs` (0 = for ever) where that could be recorded.
 * A longer silence than before is on the disk before it is given, so that the next process knows how long a controller
 * that it cannot reach may go on. Where it could not be recorded, the controller gets no longer silence than it may
 * have had.
 */
export async function agreedSilence(
  record: SilenceRecord,
  wantedMs: number,
  clock: Clock,
): Promise<Record<UnitName, SilenceLimits>> {
  const limits = perUnit(({ name }) => ({ beforeMs: record.largestMs(name), givenMs: wantedMs }));
  const longest = wantedMs === 0 ? Number.POSITIVE_INFINITY : wantedMs;
  for (const { name } of UNIT_LIST) {
    const { beforeMs } = limits[name];
    if (longest <= beforeMs) continue;
    await endedWithin(clock, RECORD_MS, record.record(name, wantedMs));
    if (record.largestMs(name) < longest) limits[name] = { beforeMs, givenMs: beforeMs };
  }
  return limits;
}

/**
 * Records a shorter silence than before once the controller has it. A controller counts as online only after a
 * heartbeat, which gives it the silence.
 */
export function recordGivenSilence(
  robot: Robot,
  record: SilenceRecord,
  limits: Record<UnitName, SilenceLimits>,
): void {
  robot.events.add(event => {
    if (event.what !== 'online') return;
    record.record(event.unit, limits[event.unit].givenMs).catch(() => undefined);
  });
}
