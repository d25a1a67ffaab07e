import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { hashOf } from '../../src/access/token.js';
import { writeTokens } from '../../src/access/token-file.js';
import { realDisk } from '../../src/storage/disk.js';
import { NODE_OPTIONS } from '../package/node-options.js';
import { REFEREE, SECRET } from './connection.js';
import type { Program } from './server.js';

const BUNDLE = new URL('../package/bundle.js', import.meta.url);

/** Builds a git revision in this folder, with the packages of its lock file. */
export function buildRevision(revision: string, folder: string): void {
  mkdirSync(folder);
  const archive = execFileSync('git', ['archive', revision], { maxBuffer: 1 << 28 });
  execFileSync('tar', ['-x'], { cwd: folder, input: archive });
  const run = (program: string, ...args: string[]) =>
    execFileSync(program, args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  run('npm', 'ci', '--prefer-offline', '--silent');
  run('scripts/build');
}

/**
 * The simulator of a built checkout, as the package starts it: bundled, with a code cache. Its list has two tokens, as in
 * a match.
 */
export async function simulatorOf(name: string, checkout: string, folder: string): Promise<Program> {
  const destination = join(folder, name);
  const state = join(destination, 'state');
  mkdirSync(state, { recursive: true });
  const bundle = `import { bundleDaemon } from '${BUNDLE}'; await bundleDaemon([], ${JSON.stringify(destination)});`;
  // The bundler works in the folder in which its process was started.
  execFileSync(process.execPath, ['--input-type=module', '-e', bundle], { cwd: checkout });
  const manifest: object = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  writeFileSync(join(destination, 'package.json'), JSON.stringify({ ...manifest, type: 'commonjs' }));
  const node = [...NODE_OPTIONS, join(checkout, 'systemd/with-code-cache.cjs')];
  const daemon = join(destination, 'dist/sim/main.js');
  execFileSync(process.execPath, [...node, '--make', daemon]);
  await writeTokens(realDisk, state, [
    { name: 'operator', role: 'operator', hash: hashOf(SECRET) },
    { name: 'referee', role: 'referee', hash: hashOf(REFEREE) },
  ]);
  return { name, args: port => [...node, daemon, '--port', String(port), '--state', state] };
}

export const PLAIN_KOA: Program = {
  name: 'plain Koa',
  args: port => [fileURLToPath(new URL('plain-koa.js', import.meta.url)), String(port)],
};
