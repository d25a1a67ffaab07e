import { readFileSync } from 'node:fs';

/** Beside dist in a checkout as in the package. */
const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));

function textAt(value: unknown, ...path: readonly string[]): string {
  const [name, ...rest] = path;
  if (name === undefined) return String(value);
  const inner = typeof value === 'object' && value !== null && Object.getOwnPropertyDescriptor(value, name);
  if (!inner) throw new TypeError(`package.json has no ${name}`);
  return textAt(inner.value, ...rest);
}

export const version = textAt(manifest, 'version');

/** `>=20.19`, and where addons came compiled ` <21` too. */
export const nodeRange = textAt(manifest, 'engines', 'node');
