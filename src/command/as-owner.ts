import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { errnoOf } from '../core/errors.js';
import { parsedJson } from '../core/json.js';
import type { Said } from './command.js';

/**
 * If root runs this command and another user owns the folder, runs the command again as that user. Otherwise resolves
 * with undefined. Root must not write there: the owner could not use root's files, and could redirect root with links.
 */
export async function runAsOwnerOf(folder: string): Promise<Said | undefined> {
  const owner = statSync(folder);
  if (process.getuid?.() !== 0 || owner.uid === 0) return undefined;
  const user = [`--reuid=${owner.uid}`, `--regid=${owner.gid}`, '--clear-groups'];
  const again = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  return new Promise(resolve => {
    execFile('setpriv', [...user, '--', ...again], (error, stdout, stderr) => {
      const text = (stdout + stderr).trimEnd();
      // With `--json` the output is JSON already.
      const said = { text, json: parsedJson(text) };
      if (error === null) resolve({ ...said, exitCode: 0 });
      else if (errnoOf(error) !== 'ENOENT') resolve({ ...said, exitCode: error.code === 2 ? 2 : 1 });
      else resolve({ text: 'Install the program setpriv: sudo apt install util-linux.', exitCode: 1 });
    });
  });
}
