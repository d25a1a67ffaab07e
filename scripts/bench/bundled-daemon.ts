import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_OPTIONS } from '../package/node-options.js';

const BUNDLE = new URL('../package/bundle.js', import.meta.url);

/**
 * Bundles the bench's daemon of a built checkout as the package does, and makes its code cache. Returns the arguments with
 * which Node starts it.
 */
export function bundledDaemon(checkout: string, folder: string): readonly string[] {
  const asked = JSON.stringify(folder);
  const bundle = `import { bundleDaemon } from '${BUNDLE}'; await bundleDaemon([], ${asked}, ['scripts/bench/daemon']);`;
  // The bundler works in the folder in which its process was started.
  execFileSync(process.execPath, ['--input-type=module', '-e', bundle], { cwd: checkout });
  const manifest: object = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, type: 'commonjs' }));
  const daemon = join(folder, 'dist/scripts/bench/daemon.js');
  const node = [...NODE_OPTIONS, join(checkout, 'systemd/with-code-cache.cjs')];
  execFileSync(process.execPath, [...node, '--make', daemon]);
  return [...node, daemon];
}
