import type { Fault } from '../core/errors.js';
import { escaped } from './validate.js';

/**
 * The members that an object of a well-formed JSON text names twice. JSON.parse silently keeps the last of them, so a
 * sender and a reader may take the same text for two different requests.
 */
export function duplicateMembers(json: string): Fault[] {
  const faults: Fault[] = [];
  const open: { pointer: string; keys: Set<string> | undefined; key: string; index: number }[] = [];
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],]/gs;
  for (const match of json.matchAll(token)) {
    const [text] = match;
    const inner = open.at(-1);
    const place = () =>
      inner === undefined ? '' : `${inner.pointer}/${inner.keys ? inner.key : inner.index}`;
    if (text === '{') open.push({ pointer: place(), keys: new Set(), key: '', index: 0 });
    else if (text === '[') open.push({ pointer: place(), keys: undefined, key: '', index: 0 });
    else if (text === '}' || text === ']') open.pop();
    else if (inner === undefined) continue;
    else if (text === ',') inner.index += 1;
    else if (inner.keys !== undefined && /^\s*:/.test(json.slice(match.index + text.length))) {
      const key = String(JSON.parse(text));
      inner.key = escaped(key);
      if (inner.keys.has(key)) faults.push({ pointer: place(), detail: 'is given twice' });
      inner.keys.add(key);
    }
  }
  return faults;
}
