import type { Fault } from '../core/errors.js';
import { escaped } from './validate.js';

/** A string, with the colon if it names a member; or a bracket, a brace or a comma. */
const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|[{}[\],]/gs;

interface Container {
  readonly pointer: string;
  /** The members so far; undefined for an array. */
  readonly names: Set<string> | undefined;
  /** The current member's name or index. */
  place: string | number;
}

/**
 * The members that valid JSON text names twice. JSON.parse keeps the last one without a word, so a sender and a reader
 * could take the same text for different requests.
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
