import { isObject } from '../core/json.js';
import { sha256 } from '../core/sha256.js';

/** The text of an object with a checksum in its member `sha256`. */
export function checkedJson(value: object): string {
  return `${JSON.stringify({ ...value, sha256: sha256(JSON.stringify(value)) })}\n`;
}

/** The object in this text. Throws if it is none, or if its checksum is wrong. A text of 0.3.0 has no checksum. */
export function fromCheckedJson(text: string): Readonly<Record<string, unknown>> {
  const found: unknown = JSON.parse(text);
  if (!isObject(found)) throw new Error('not an object');
  const { sha256: sum, ...value } = found;
  if (sum !== undefined && sum !== sha256(JSON.stringify(value)))
    throw new Error('not an object with its checksum');
  return value;
}
