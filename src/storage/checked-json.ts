import { isObject } from '../core/json.js';
import { sha256 } from '../core/sha256.js';

/** The text of an object with its checksum. The checksum is a small number, which 0.3.0 accepts in these files. */
export function checkedJson(value: object): string {
  return `${JSON.stringify({ ...value, check: checkOf(value) })}\n`;
}

/** The object in this text. Throws if it is none, or if its checksum is wrong. A text of 0.3.0 has no checksum. */
export function fromCheckedJson(text: string): Readonly<Record<string, unknown>> {
  const found: unknown = JSON.parse(text);
  if (!isObject(found)) throw new Error('not an object');
  const { check, ...value } = found;
  if (check !== undefined && check !== checkOf(value)) throw new Error('not an object with its checksum');
  return value;
}

/** 16 bits. */
function checkOf(value: object): number {
  return Number.parseInt(sha256(JSON.stringify(value)).slice(0, 4), 16);
}
