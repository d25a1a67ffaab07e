import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { errnoOf } from '../core/errors.js';
import type { Said } from '../core/said.js';

/**
 * Runs this command again as the owner of the folder, if root runs it and the folder is somebody else's. Resolves with
 * undefined if this process may use the folder itself. Root changes nothing in such a folder: its owner could not use
 * the files, and could lead root elsewhere with links.
 */
export async function runAsOwnerOf(folder: string): Promise<Said | undefined> {
  const owner = statSync(folder);
  if (process.getuid?.() !== 0 || owner.uid === 0) return undefined;
  const user = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  return new Promise(resolve => {
    execFile('setpriv', [...user, '--', ...again], (error, stdout, stderr) => {
      const text = (stdout + stderr).trimEnd();
      if (error === null) resolve({ text, exitCode: 0 });
      else if (errnoOf(error) !== 'ENOENT') resolve({ text, exitCode: error.code === 2 ? 2 : 1 });
      else resolve({ text: 'Install the program setpriv: sudo apt install util-linux.', exitCode: 1 });
    });
  });
}
