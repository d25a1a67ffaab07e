import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Program } from '../../src/command/command.js';
import { completionCommand, SHELLS } from '../../src/command/completion-command.js';
import { robot } from '../generate/command-tables.js';
import { defaultConfig } from '../generate/default-config.js';
import { NODE_ENVIRONMENT, NODE_OPTIONS } from './node-options.js';

/** The daemon's folder in the package. */
export const HOME = 'usr/lib/trunnion';

/** Where each shell of Debian looks for the completions of a program. */
const COMPLETIONS = {
  bash: (name: string) => `usr/share/bash-completion/completions/${name}`,
  zsh: (name: string) => `usr/share/zsh/vendor-completions/_${name}`,
  fish: (name: string) => `usr/share/fish/vendor_completions.d/${name}.fish`,
};

export function put(root: string, path: string, content: string | Buffer, mode = 0o644): void {
  const target = join(root, path);
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target, content);
  chmodSync(target, mode);
}

export function filesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Writes the files that integrate the daemon into Debian: commands, unit, user, device rights, configuration. */
export function layOutSystem(root: string): void {
  // Only systemd sets NOTIFY_SOCKET. Without it, the shell replaces itself with Node at once.
  const node = ['/usr/bin/node', ...NODE_OPTIONS, `/${HOME}/with-code-cache.cjs`].join(' ');
  const program = (entry: string) =>
    `\${NOTIFY_SOCKET:+/${HOME}/with-notify-socket} ${node} /${HOME}/dist/${entry}/main.js`;
  putCommand(root, 'trunnion', program('src'));
  putCommand(root, 'trunnion-sim', program('sim'));
  // V8 rejects a code cache that was made under other flags, such as those in root's NODE_OPTIONS.
  const make = `#!/bin/sh\nexport NODE_OPTIONS=\nexec ${node} --make /${HOME}/dist/src/main.js\n`;
  put(root, `${HOME}/make-code-cache`, make, 0o755);
  for (const program of ['trunnion-dark', 'with-notify-socket']) {
    put(root, `${HOME}/${program}`, readFileSync(join('systemd', program)), 0o755);
  }
  const copies = [
    ['with-code-cache.cjs', `${HOME}/with-code-cache.cjs`],
    ['trunnion.service', 'usr/lib/systemd/system/trunnion.service'],
    ['sysusers.conf', 'usr/lib/sysusers.d/trunnion.conf'],
    ['udev.rules', 'usr/lib/udev/rules.d/60-trunnion.rules'],
    ['modules-load.conf', 'usr/lib/modules-load.d/trunnion.conf'],
  ] as const;
  for (const [file, path] of copies) put(root, path, readFileSync(join('systemd', file)));
  put(root, 'etc/trunnion/config.yaml', defaultConfig());
  putCompletions(root, robot);
  for (const page of ['trunnion', 'trunnion-sim']) putManPage(root, page);
}

/** Writes a command of the package, which starts this program. */
export function putCommand(root: string, name: string, program: string): void {
  const environment = Object.entries(NODE_ENVIRONMENT).map(([name, value]) => `export ${name}=${value}\n`);
  put(root, `usr/bin/${name}`, `#!/bin/sh\n${environment.join('')}exec ${program} "$@"\n`, 0o755);
}

export function putCompletions(root: string, program: Program): void {
  for (const shell of SHELLS)
    put(root, COMPLETIONS[shell](program.name), completionCommand(program, shell).text);
}

export function putManPage(root: string, page: string): void {
  const path = `usr/share/man/man1/${page}.1.gz`;
  put(root, path, gzipSync(readFileSync(`systemd/${page}.1`), { level: 9 }));
}
