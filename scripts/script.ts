import { spawnSync } from 'node:child_process';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { messageOf } from '../src/core/errors.js';

/** Runs the work of a script. Its failure is one line for the person at the terminal: what went wrong, and the cure. */
export async function script(work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const [line] = messageOf(error).split('\n');
    console.error(line);
    process.exitCode = 1;
  }
}

/** The options behind a script's name. Ends the process with one line where they cannot be understood. */
export function optionsOf<Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(messageOf(error));
  }
}

/** Ends the process: what was asked of the script cannot be done. */
export function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

/** Throws where a program is missing that this package of Debian brings. */
export function requireProgram(program: string, debianPackage: string): void {
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined) return;
  throw new Error(`no ${program}: apt install ${debianPackage}`);
}
