import { crc32 } from 'node:zlib';
import { type JournalEntry, journalBytes, journalEntry } from '../../src/gains/journal-line.js';
import type { ProcessLock } from '../../src/storage/path-lock.js';

/** The bytes of the entry in the file, with its newline. */
export function encodeEntry(entry: Omit<JournalEntry, 'line'>): string {
  return journalBytes([journalEntry(entry).line]).toString();
}

/** The lock of a journal on a disk in memory, which no other process can use. */
export const noLock: ProcessLock = { hold: async () => undefined, release: async () => undefined };

/** A line by another version, with a right checksum and its newline. */
export function foreignLine(members: Readonly<Record<string, unknown>>): string {
  const body = JSON.stringify(members).slice(0, -1);
  return `${body},"checksum":"${crc32(body).toString(16).padStart(8, '0')}"}\n`;
}
