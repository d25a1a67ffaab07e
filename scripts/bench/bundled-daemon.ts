import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_OPTIONS } from '../package/node-options.js';

const BUNDLE = new URL('../package/bundle.js', import.meta.url);

/** A daemon as in the package: bundled, with a code cache. */
export interface Daemons {
  /** The daemon on a bus and a pin in memory. */
  readonly inMemory: readonly string[];
  /** The simulator: firmware with its delays, and physics. */
  readonly simulated: readonly string[];
}

/** Bundles the daemons of a built checkout as the package does, and makes their code caches. */
export function bundledDaemons(checkout: string, folder: string): Daemons {
  const asked = JSON.stringify(folder);
  const bundle = `import { bundleDaemon } from '${BUNDLE}'; await bundleDaemon([], ${asked}, ['scripts/bench/daemon']);`;
  // The bundler works in the folder in which its process was started.
  execFileSync(process.execPath, ['--input-type=module', '-e', bundle], { cwd: checkout });
  const manifest: object = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, type: 'commonjs' }));
  const node = [...NODE_OPTIONS, join(checkout, 'systemd/with-code-cache.cjs')];
  const program = (entry: string) => {
    const daemon = join(folder, `dist/${entry}.js`);
    execFileSync(process.execPath, [...node, '--make', daemon]);
    return [...node, daemon];
  };
  return { inMemory: program('scripts/bench/daemon'), simulated: program('sim/main') };
}
