import { crc32 } from 'node:zlib';
import { isGains, isObject, parsedJson } from '../core/json.js';
import { FLOAT32_MAX, type GainSet, type Gains, UNIT_LIST } from '../core/units.js';

/** Who saved, and from which profile. Lines of version 0.3 and older do not say. */
export interface Origin {
  readonly by?: string | undefined;
  readonly profile?: string | undefined;
}

/** One save. */
export interface JournalEntry extends Origin {
  readonly revision: number;
  readonly time: string;
  readonly unit: string;
  /** Loops that this version does not know are kept if their values have the form of gains. */
  readonly gains: GainSet;
  /** The line in the file without its newline. It keeps members that a newer version wrote. */
  readonly line: string;
}

/**
 * The format of this version. Its lines do not name it. A later format that this code would misread must name itself in
 * a member `format`. No version has written that member so far.
 */
const FORMAT = 1;
/** The largest revision. No robot saves more often, and JavaScript's numbers are exact up to this one. */
export const MAX_REVISION = 2 ** 52;
export const NEWLINE = 0x0a;
const CHECKED = /^(\{.*),"checksum":"([0-9a-f]{8})"\}$/s;

/** Makes an entry with its line. The checksum is the CRC-32 of everything before it. */
export function journalEntry(asked: Omit<JournalEntry, 'line'>): JournalEntry {
  const { revision, time, unit, gains, by, profile } = asked;
  const body = JSON.stringify({ revision, time, unit, gains, by, profile }).slice(0, -1);
  return { ...asked, line: `${body},"checksum":"${checksum(body)}"}` };
}

/** The bytes of these lines in the file. */
export function journalBytes(lines: readonly string[]): Buffer {
  return Buffer.from(lines.map(line => `${line}\n`).join(''));
}

/**
 * Reads a journal from any bytes. A line is used, wherever it is, if its checksum is right and a controller
 * can run its gains. `damaged`: a line cannot be used, or the file ends in the middle of a line. `newerFormat`:
 * the format of a newer version, which this version cannot read.
 */
export function parseJournal(bytes: Buffer) {
  const entries: JournalEntry[] = [];
  let newerFormat: number | undefined;
  const lines = bytes.toString().split('\n');
  // Every line ends in a line break, so the last part is empty.
  let damaged = lines.at(-1) !== '';
  if (!damaged) lines.pop();
  for (const line of lines) {
    const entry = decodeLine(line);
    if (entry !== undefined) entries.push(entry);
    else {
      damaged = true;
      newerFormat ??= formatOf(line);
    }
  }
  return { entries, damaged, newerFormat };
}

function decodeLine(line: string): JournalEntry | undefined {
  const match = CHECKED.exec(line);
  if (match === null || checksum(match[1] ?? '') !== match[2]) return undefined;
  const value = parsedJson(line);
  if (!isObject(value)) return undefined;
  const { format = FORMAT, revision, time, unit, gains } = value;
  if (format !== FORMAT || !isRevision(revision) || typeof time !== 'string' || typeof unit !== 'string')
    return undefined;
  if (!isObject(gains)) return undefined;
  const loops = UNIT_LIST.find(({ name }) => name === unit)?.loops ?? [];
  if (loops.some(({ name }) => name in gains && !areRunnable(gains[name]))) return undefined;
  const known = Object.entries(gains).filter((loop): loop is [string, Gains] => areRunnable(loop[1]));
  const origin = { by: textIn(value.by), profile: textIn(value.profile) };
  return { revision, time, unit, gains: Object.fromEntries(known), ...origin, line };
}

/**
 * The format that the line names; undefined for the format of this version. The checksum is not checked,
 * since a newer format may have another one.
 */
function formatOf(line: string): number | undefined {
  const value = line.includes('"format"') ? parsedJson(line) : undefined;
  if (!isObject(value) || typeof value.format !== 'number' || value.format === FORMAT) return undefined;
  return value.format;
}

const textIn = (value: unknown) => (typeof value === 'string' ? value : undefined);

function isRevision(value: unknown): value is number {
  return Number.isInteger(value) && Number(value) > 0 && Number(value) <= MAX_REVISION;
}

function areRunnable(value: unknown): value is Gains {
  return isGains(value) && [value.kp, value.ki, value.kd].every(gain => Math.abs(gain) <= FLOAT32_MAX);
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
