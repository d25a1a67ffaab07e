import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** package.json is beside dist, in a checkout and in the package. */
const manifest: Manifest = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);

export const { version } = manifest;

/** The supported versions of Node, such as `>=20.19`. A package with compiled addons also has an upper bound. */
export const nodeRange = manifest.engines.node;
