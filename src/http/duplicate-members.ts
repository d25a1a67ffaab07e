import type { Fault } from '../core/errors.js';
import { escaped } from './validate.js';

/**
 * Matches a string, together with the colon that makes it a member's name, or a character that opens, divides or
 * closes.
 */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\],]/gs;

interface Container {
  readonly pointer: string;
  /** The names so far; undefined for an array. */
  readonly names: Set<string> | undefined;
  /** The place of the next thing in it: a member's name or an index. */
  place: string | number;
}

/**
 * The members that an object of a well-formed JSON text names twice. JSON.parse silently keeps the last of them, so a
 * sender and a reader may take the same text for two different requests.
 */
export function duplicateMembers(json: string): Fault[] {
  const faults: Fault[] = [];
  const open: Container[] = [];
  for (const [token, text = '', colon] of json.matchAll(TOKEN)) {
    const inner = open.at(-1);
    if (token === '{' || token === '[') {
      const pointer = inner === undefined ? '' : `${inner.pointer}/${inner.place}`;
      open.push({ pointer, names: token === '{' ? new Set() : undefined, place: token === '{' ? '' : 0 });
    } else if (token === '}' || token === ']') open.pop();
    else if (token === ',' && typeof inner?.place === 'number') inner.place += 1;
    else if (colon !== undefined && inner?.names !== undefined) {
      const name = String(JSON.parse(text));
      inner.place = escaped(name);
      if (inner.names.has(name)) {
        faults.push({ pointer: `${inner.pointer}/${inner.place}`, detail: 'is given twice' });
      }
      inner.names.add(name);
    }
  }
  return faults;
}
