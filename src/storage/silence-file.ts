import { isObject } from '../core/json.js';
import { UNIT_LIST, type UnitName } from '../core/units.js';
import { StateFile, type StateParts } from './state-file.js';

export const SILENCE_FILE = 'host-silence.json';

/** The host silence with which a controller starts, and which it may have again after a reset that nobody saw. */
const AT_CONTROLLER_START_MS = 500;
const MAX_MS = 0xffff;

/** Milliseconds by unit, 0 for a silence without end. Units that this version does not know are kept. */
export type Silences = Readonly<Record<string, number>>;

/**
 * How long each motor controller may go on without a heartbeat because an earlier process allowed it. A controller that
 * has been silent towards us for longer than that has taken its torque off.
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
 * The largest silence that the unit's controller may have been given: at least the one with which it starts, Infinity for
 * a silence without end.
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
