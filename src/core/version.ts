import { readFileSync } from 'node:fs';
import { isObject } from './json.js';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** package.json is beside dist, in a checkout and in the package. */
const manifest: unknown = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'));
if (!isManifest(manifest)) throw new TypeError('package.json has no version or no range of Node');

export const { version } = manifest;

/** The supported versions of Node, such as `>=20.19`. A package with compiled addons also has an upper bound. */
export const nodeRange = manifest.engines.node;

function isManifest(value: unknown): value is Manifest {
  return (
    isObject(value) && typeof value.version === 'string' && isObject(value.engines) && 'node' in value.engines
  );
}
