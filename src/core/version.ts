import { readFileSync } from 'node:fs';

/** package.json is beside dist, both in a checkout and in the installed package. */
const text = readFileSync(new URL('../../../package.json', import.meta.url), 'utf8');
const manifest: { readonly version: string; readonly engines: { readonly node: string } } = JSON.parse(text);

export const { version } = manifest;

/** The supported versions of Node, such as `>=20.19`. A package with compiled addons also has an upper bound. */
export const nodeRange = manifest.engines.node;
