import { crc32 } from 'node:zlib';
import type { GainSet, Gains } from '../core/units.js';

/** One save. Units and loops that this version does not know are kept as they are. */
export interface JournalEntry {
  readonly revision: number;
  readonly time: string;
  readonly unit: string;
  readonly gains: GainSet;
}

export interface JournalText {
  readonly entries: readonly JournalEntry[];
  /** A line does not hold, or the end is torn. */
  readonly damaged: boolean;
}

const NEWLINE = 0x0a;
const CHECKED = /^(\{.*),"checksum":"([0-9a-f]{8})"\}$/s;

/** With its newline. The checksum is the CRC-32 of everything before it. */
export function encodeEntry({ revision, time, unit, gains }: JournalEntry): string {
  const body = JSON.stringify({ revision, time, unit, gains }).slice(0, -1);
  return `${body},"checksum":"${checksum(body)}"}\n`;
}

/** Any bytes: every line whose checksum holds counts, wherever it stands. */
export function parseJournal(bytes: Buffer): JournalText {
  const entries: JournalEntry[] = [];
  let damaged = bytes.length > 0 && bytes.at(-1) !== NEWLINE;
  let start = 0;
  while (start < bytes.length) {
    const newline = bytes.indexOf(NEWLINE, start);
    const end = newline < 0 ? bytes.length : newline;
    const entry = decodeEntry(bytes.toString('utf8', start, end));
    if (entry === undefined) damaged = true;
    else entries.push(entry);
    start = end + 1;
  }
  return { entries, damaged };
}

function decodeEntry(line: string): JournalEntry | undefined {
  const match = CHECKED.exec(line);
  if (match === null || checksum(match[1] ?? '') !== match[2]) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return isEntry(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isEntry(value: unknown): value is JournalEntry {
  if (!isObject(value)) return false;
  const { revision, time, unit, gains } = value;
  return (
    typeof revision === 'number' &&
    Number.isSafeInteger(revision) &&
    revision > 0 &&
    typeof time === 'string' &&
    typeof unit === 'string' &&
    isObject(gains) &&
    Object.values(gains).every(isGains)
  );
}

function isGains(value: unknown): value is Gains {
  return isObject(value) && [value.kp, value.ki, value.kd].every(Number.isFinite);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function checksum(text: string): string {
  return crc32(text).toString(16).padStart(8, '0');
}
