import { perUnit, UNIT_LIST, type UnitName } from '../core/units.js';
import type { SilenceLimits } from '../robot/host-silence.js';
import type { Robot } from '../robot/robot.js';
import { START_MS } from '../storage/disk.js';
import { largestMs, type Silences } from '../storage/silence-file.js';
import type { StateFile } from '../storage/state-file.js';

/** The robot waits no longer than this for the disk. */
const RECORD_MS = 500;

/**
 * Resolves with the host silence that each controller is given: `wantedMs` (0 = for ever) if that could be recorded. A
 * longer silence than before is on the disk before it is given, so that the next process knows how long a controller
 * that it cannot reach may go on. If it cannot be recorded, the controller gets no longer silence than it may have had.
 */
export async function agreedSilence(
  file: StateFile<Silences>,
  wantedMs: number,
): Promise<Record<UnitName, SilenceLimits>> {
  const before = await file.read(START_MS);
  const wanted = wantedMs === 0 ? Number.POSITIVE_INFINITY : wantedMs;
  const longer = UNIT_LIST.filter(({ name }) => wanted > largestMs(before, name)).map(({ name }) => name);
  const recorded =
    longer.length === 0 ? before : { ...before, ...Object.fromEntries(longer.map(name => [name, wantedMs])) };
  const isRecorded = await file.save(recorded, RECORD_MS).then(
    () => true,
    () => false,
  );
  return perUnit(({ name }) => {
    const beforeMs = largestMs(before, name);
    return { beforeMs, givenMs: isRecorded || !longer.includes(name) ? wantedMs : beforeMs };
  });
}

/**
 * Records a shorter silence than before once the controller has it. A controller counts as online only after a
 * heartbeat, which gives it the silence.
 */
export function recordGivenSilence(
  robot: Robot,
  file: StateFile<Silences>,
  limits: Record<UnitName, SilenceLimits>,
): void {
  robot.events.add(event => {
    if (event.what !== 'online') return;
    const { givenMs } = limits[event.unit];
    if (file.value?.[event.unit] === givenMs) return;
    file.save({ ...file.value, [event.unit]: givenMs }, RECORD_MS).catch(() => undefined);
  });
}
