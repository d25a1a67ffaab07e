import { readFileSync } from 'node:fs';
import { isObject } from './is-object.js';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** Beside dist in a checkout as in the package. */
const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
if (!isManifest(manifest)) throw new TypeError('package.json has no version or no range of Node');

export const { version } = manifest;

/** `>=20.19`, and where addons came compiled an upper bound too. */
export const nodeRange = manifest.engines.node;

function isManifest(value: unknown): value is Manifest {
  return (
    isObject(value) && typeof value.version === 'string' && isObject(value.engines) && 'node' in value.engines
  );
}
