import { perUnit, UNIT_LIST, type UnitName } from '../core/units.js';
import type { SilenceLimits } from '../robot/host-silence.js';
import type { Robot } from '../robot/robot.js';
import { START_MS } from '../storage/disk.js';
import { largestMs, type Silences } from '../storage/silence-file.js';
import type { StateFile } from '../storage/state-file.js';

/** The longest wait for the disk. */
const RECORD_MS = 500;

/**
 * Resolves with the host silence that each controller is given: `wantedMs` (0 = no limit) if the disk has recorded it.
 * A silence longer than before is recorded before it is given: the next process must know how long a controller that
 * it cannot reach may keep its torque. If recording fails, the controller gets the silence that it may already have.
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
 * Records a silence shorter than before once the controller has it. The first heartbeat sets the silence, and a
 * controller is online only after a heartbeat.
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
