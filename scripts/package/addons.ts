import { execFileSync } from 'node:child_process';
import { cpSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { requireProgram } from '../script.js';
import { put } from './layout.js';
import { NODE_ABIS, type NodeMajor, nodeRelease } from './node-release.js';

export const ARCHITECTURES = {
  arm64: { node: 'arm64', compiler: 'aarch64-linux-gnu', debian: 'aarch64-linux-gnu' },
  amd64: { node: 'x64', compiler: 'x86_64-linux-gnu', debian: 'x86-64-linux-gnu' },
} as const;
export type Architecture = keyof typeof ARCHITECTURES;

/** Throws if nothing can be compiled for this architecture. */
export function requireCompiler(architecture: Architecture): void {
  const { compiler, debian } = ARCHITECTURES[architecture];
  for (const program of [`${compiler}-g++`, 'make', 'python3'])
    requireProgram(program, `g++-${debian} make python3`);
}

/**
 * Compiles the addons of these packages ("node_modules/epoll") for one architecture and one major version of Node. Puts them
 * where the package `bindings` looks for them.
 */
export function buildAddons(
  packages: readonly string[],
  { architecture, major }: { readonly architecture: Architecture; readonly major: NodeMajor },
  destination: string,
  workFolder: string,
): string[] {
  const { node, compiler } = ARCHITECTURES[architecture];
  const stage = join(workFolder, `addons-${architecture}-${major}`);
  for (const folder of [...packages, 'node_modules/nan', 'node_modules/bindings']) {
    cpSync(folder, join(stage, folder), { recursive: true, filter: path => basename(path) !== 'build' });
  }
  const names = packages.map(folder => basename(folder));
  const always = Object.fromEntries(names.map(name => [name, true]));
  const dependencies = Object.fromEntries(names.map(name => [name, '*']));
  writeFileSync(join(stage, 'package.json'), JSON.stringify({ dependencies, allowScripts: always }));
  // make cannot work in a path with a space, and the checkout may be in one.
  if (/\s/.test(stage)) throw new Error(`set TMPDIR to a folder without a space: ${stage}`);
  const headers = `${stage}-headers`;
  rmSync(headers, { force: true });
  symlinkSync(nodeRelease(major), headers);
  const hardening = '-O2 -fstack-protector-strong -D_FORTIFY_SOURCE=2';
  execFileSync('npm', ['rebuild', `--nodedir=${headers}`, `--arch=${node}`], {
    cwd: stage,
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      ...process.env,
      npm_config_loglevel: 'error',
      CC: `${compiler}-gcc`,
      CXX: `${compiler}-g++`,
      AR: `${compiler}-ar`,
      LINK: `${compiler}-g++`,
      CFLAGS: `${hardening} -ffile-prefix-map=${stage}=.`,
      CXXFLAGS: `${hardening} -ffile-prefix-map=${stage}=.`,
      LDFLAGS: '-Wl,-z,relro,-z,now -Wl,--build-id=none',
    },
  });
  const abi = `node-v${NODE_ABIS[major]}-linux-${node}`;
  return packages.flatMap(folder => {
    const release = join(folder, 'build/Release');
    const binaries = readdirSync(join(stage, release)).filter(file => file.endsWith('.node'));
    return binaries.map(file => {
      const built = join(stage, release, file);
      execFileSync(`${compiler}-strip`, ['--strip-unneeded', built]);
      put(destination, join(folder, 'lib/binding', abi, file), readFileSync(built));
      return built;
    });
  });
}

/** The Debian packages of the C and C++ libraries that these binaries need, with their versions. */
export function libraryDependencies(binaries: readonly string[], architecture: Architecture): string[] {
  const { compiler } = ARCHITECTURES[architecture];
  const dump = execFileSync(`${compiler}-objdump`, ['-p', ...binaries], { encoding: 'utf8' });
  const newest = (pattern: RegExp) =>
    [...dump.matchAll(pattern)]
      .map(match => match[1] ?? '')
      .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
      .at(-1);
  const libc = newest(/\bGLIBC_([0-9.]+)/g);
  const dependencies = libc === undefined ? [] : [`libc6 (>= ${libc})`];
  if (dump.includes('libstdc++.so.6')) dependencies.push('libstdc++6 (>= 12)');
  if (dump.includes('libgcc_s.so.1')) dependencies.push('libgcc-s1');
  return dependencies;
}
