import { isObject } from '../core/json.js';
import { UNIT_LIST, type UnitName } from '../core/units.js';
import { StateFile, type StateParts } from './state-file.js';

export const SILENCE_FILE = 'host-silence.json';

/** A controller's host silence after its own start. A controller may have reset unnoticed, and then has this silence again. */
const AT_CONTROLLER_START_MS = 500;
const MAX_MS = 0xffff;

/** Milliseconds by unit; 0 means no limit. Unknown units are kept. */
export type Silences = Readonly<Record<string, number>>;

/**
 * The longest time that each controller keeps its torque without a heartbeat, as an earlier process may have set it. After
 * this time a controller that cannot be reached has no torque.
 */
export function silenceFile(parts: StateParts): StateFile<Silences> {
  return new StateFile<Silences>(parts, {
    name: SILENCE_FILE,
    encode: silences => `${JSON.stringify(silences)}\n`,
    decode: text => {
      const value: unknown = JSON.parse(text);
      if (!isSilences(value)) throw new Error('not silences');
      return value;
    },
    absent: {},
    failSafe: () => Object.fromEntries(UNIT_LIST.map(({ name }) => [name, 0])),
  });
}

/**
 * The largest silence that the unit's controller may have. Infinity means no limit.
 */
export function largestMs(silences: Silences, unit: UnitName): number {
  const recorded = silences[unit] ?? AT_CONTROLLER_START_MS;
  return recorded === 0 ? Number.POSITIVE_INFINITY : Math.max(recorded, AT_CONTROLLER_START_MS);
}

function isSilences(value: unknown): value is Silences {
  return isObject(value) && Object.values(value).every(isSilence);
}

function isSilence(ms: unknown): boolean {
  return Number.isInteger(ms) && Number(ms) >= 0 && Number(ms) <= MAX_MS;
}
