import { readFileSync } from 'node:fs';

/** Beside dist in a checkout as in the package. */
const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

function versionIn(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'version' in value) return String(value.version);
  throw new TypeError('package.json has no version');
}

export const version = versionIn(manifest);
