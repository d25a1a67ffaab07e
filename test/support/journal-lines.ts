import { crc32 } from 'node:zlib';
import { type JournalEntry, journalBytes, journalEntry } from '../../src/gains/journal-line.js';
import type { ProcessLock } from '../../src/storage/path-lock.js';

/** The entry as it stands in the file, with its newline. */
export function encodeEntry(entry: Omit<JournalEntry, 'line'>): string {
  return journalBytes([journalEntry(entry).line]).toString();
}

/** A lock for journals on disks in memory, where nobody else is. */
export const noLock: ProcessLock = { hold: async () => undefined, release: async () => undefined };

/** A line that something else than this version wrote, with a right checksum and its newline. */
export function foreignLine(members: Readonly<Record<string, unknown>>): string {
  const body = JSON.stringify(members).slice(0, -1);
  return `${body},"checksum":"${crc32(body).toString(16).padStart(8, '0')}"}\n`;
}
