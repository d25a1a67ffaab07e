import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hashOf } from '../../src/access/token.js';
import { writeTokens } from '../../src/access/token-file.js';
import { realDisk } from '../../src/storage/disk.js';
import { bundleDaemon } from '../package/bundle.js';
import { NODE_OPTIONS } from '../package/node-options.js';
import { SECRET } from './connection.js';
import type { Program } from './server.js';

/** Yardsticks that are no dependency of the project: fetched when the bench runs. */
const FETCHED = { fastify: '5', express: '5' };

export interface Programs {
  readonly daemon: Program;
  readonly bare: Program;
  readonly koa: Program;
  /** Fastify and Express, where they could be fetched. */
  readonly fetched: readonly Program[];
}

const WITH_CODE_CACHE = 'systemd/with-code-cache.cjs';

/**
 * Bundles the daemon and makes its code cache as the package does, and fetches what others have written to measure by.
 * The function that it gives makes the programs of one part of the bench: the daemon, closed by a token, with nothing
 * saved yet.
 */
export async function preparePrograms(folder: string): Promise<(state: string) => Promise<Programs>> {
  await bundleDaemon([], folder, ['scripts/bench/daemon']);
  const manifest: object = JSON.parse(readFileSync('package.json', 'utf8'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, type: 'commonjs' }));
  const daemon = join(folder, 'dist/scripts/bench/daemon.js');
  const node = [...NODE_OPTIONS, resolve(WITH_CODE_CACHE)];
  execFileSync(process.execPath, [...node, '--make', daemon]);
  const modules = join(folder, 'fetched');
  const fetched = fetchYardsticks(modules).map(name => yardstick(name, modules));
  return async state => {
    await writeTokens(realDisk, state, [{ name: 'bench', role: 'operator', hash: hashOf(SECRET) }]);
    return {
      daemon: {
        name: 'daemon',
        args: port => [...node, daemon, '--port', String(port), '--state', state],
      },
      bare: yardstick('bare'),
      koa: yardstick('koa'),
      fetched,
    };
  };
}

function yardstick(name: string, ...args: string[]): Program {
  const file = resolve(`scripts/bench/yardsticks/${name}.mjs`);
  return { name, args: port => [file, String(port), ...args] };
}

function fetchYardsticks(folder: string): string[] {
  mkdirSync(folder);
  const wanted = Object.entries(FETCHED).map(([name, major]) => `${name}@${major}`);
  try {
    execFileSync('npm', ['install', '--silent', '--no-audit', '--no-fund', '--prefix', folder, ...wanted], {
      stdio: ['ignore', 'ignore', 'ignore'],
      timeout: 60_000,
    });
    return Object.keys(FETCHED);
  } catch {
    process.stderr.write(`${wanted.join(' and ')} cannot be fetched: not measured\n`);
    return [];
  }
}
