import { perUnit, UNIT_LIST, type UnitName } from '../core/units.js';
import type { SilenceLimits } from '../robot/host-silence.js';
import type { Robot } from '../robot/robot.js';
import { checkedJson, fromCheckedJson } from '../storage/checked-json.js';
import { START_MS } from '../storage/disk.js';
import { type StateFile, type StateParts, stateFile } from '../storage/state-file.js';

/**
 * The host silence of a controller that has just started. A controller may have reset unnoticed, and then has this
 * silence again.
 */
const AT_CONTROLLER_START_MS = 500;
const MAX_MS = 0xffff;
/** The longest wait for the disk. */
const RECORD_MS = 500;

/** Milliseconds by unit; 0 means no limit. Units of other versions are kept. */
type Silences = Readonly<Record<string, number>>;
type Limits = Readonly<Record<UnitName, SilenceLimits>>;

/**
 * Records how long each controller may keep its torque without a heartbeat, because an earlier process may have set
 * this time. After this time an unreachable controller has no torque.
 */
export function silenceFile(parts: StateParts): StateFile<Silences> {
  return stateFile<Silences>(parts, {
    name: 'host-silence.json',
    encode: checkedJson,
    decode: text => {
      const value = fromCheckedJson(text);
      if (!isSilences(value)) throw new Error('not silences');
      return value;
    },
    absent: {},
    failSafe: () => perUnit(() => 0),
  });
}

/** The largest silence that the unit's controller may have. Infinity means no limit. */
export function largestMs(silences: Silences, unit: UnitName): number {
  const recorded = silences[unit] ?? AT_CONTROLLER_START_MS;
  return recorded === 0 ? Number.POSITIVE_INFINITY : Math.max(recorded, AT_CONTROLLER_START_MS);
}

function isSilences(value: Readonly<Record<string, unknown>>): value is Silences {
  const isSilence = (ms: unknown) => Number.isInteger(ms) && Number(ms) >= 0 && Number(ms) <= MAX_MS;
  return Object.values(value).every(isSilence);
}

/**
 * Resolves with the host silence to give to each controller. This is `wantedMs` (0 = no limit) if the disk has
 * recorded it. A longer silence is recorded before a controller gets it, because the next process must know how long
 * an unreachable controller may keep its torque. If recording fails, the controller gets a silence that it may
 * already have.
 */
export async function agreedSilence(file: StateFile<Silences>, wantedMs: number): Promise<Limits> {
  const before = await file.read(START_MS);
  const wanted = wantedMs === 0 ? Number.POSITIVE_INFINITY : wantedMs;
  const longer = UNIT_LIST.filter(({ name }) => wanted > largestMs(before, name)).map(({ name }) => name);
  const recorded =
    longer.length === 0 ? before : { ...before, ...Object.fromEntries(longer.map(name => [name, wantedMs])) };
  await file.save(recorded, RECORD_MS).catch(() => undefined);
  return perUnit(({ name }) => {
    const beforeMs = largestMs(before, name);
    return { beforeMs, givenMs: file.problem === undefined || !longer.includes(name) ? wantedMs : beforeMs };
  });
}

/**
 * Records a shorter silence once the controller has it. The first heartbeat sets the silence, and a controller is
 * online only after a heartbeat.
 */
export function recordGivenSilence(robot: Robot, file: StateFile<Silences>, limits: Limits): void {
  robot.events.add(event => {
    if (event.what !== 'online') return;
    const { givenMs } = limits[event.unit];
    if (file.value?.[event.unit] === givenMs) return;
    file.save({ ...file.value, [event.unit]: givenMs }, RECORD_MS).catch(() => undefined);
  });
}
