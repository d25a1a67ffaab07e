import type { Boot } from '../core/boot.js';
import { sha256 } from '../core/sha256.js';

/** The text of a record that names the system boot, with a checksum. */
export function bootRecord(boot: Boot, value: object): string {
  const recorded = { ...value, boot: boot.id ?? null };
  return `${JSON.stringify({ recorded, sha256: sha256(JSON.stringify(recorded)) })}\n`;
}

/**
 * The record in this text, and whether it is of this system boot. Throws if the checksum is wrong. The members are not
 * checked: only this program writes a record with a valid checksum.
 */
export function recordIn<T>(boot: Boot, text: string): { readonly value: T; readonly isOfBoot: boolean } {
  const { recorded, sha256: sum } = JSON.parse(text);
  if (sum !== sha256(JSON.stringify(recorded))) throw new Error('not a record with its checksum');
  const { boot: id, ...value } = recorded;
  return { value, isOfBoot: id !== null && id === boot.id };
}
