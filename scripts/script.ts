import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { isRobotError, messageOf } from '../src/core/errors.js';

/**
 * Runs the work of a script. Its failure is one line for the person at the terminal: what went wrong, and the cure. Only
 * a defect of ours shows where it is.
 */
export async function script(work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isDefect(error)) throw error;
    const [line] = messageOf(error).split('\n');
    console.error(line);
    // Servers and callers that the work has started end with it.
    process.exit(1);
  }
}

/** What goes wrong outside is thrown as a plain error, as one of the robot's, or by the system with its number. */
function isDefect(error: unknown): boolean {
  if (!(error instanceof Error) || isRobotError(error) || 'errno' in error) return false;
  return error.constructor !== Error || error.message === '';
}

/** The options behind a script's name. Ends the process with one line where they cannot be understood. */
export function optionsOf<Options extends NonNullable<ParseArgsConfig['options']>>(options: Options) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    return refuse(messageOf(error));
  }
}

/** The whole number given for an option. Ends the process with one line where it is none, or less than `least`. */
export function wholeNumberOf(option: string, given: string, least: number): number {
  const number = given.trim() === '' ? Number.NaN : Number(given);
  if (Number.isSafeInteger(number) && number >= least) return number;
  return refuse(`--${option} takes a whole number from ${least} on, not "${given}"`);
}

/** Runs `work` with a folder of its own among the temporary files, and takes that away afterwards. */
export async function withFolder(name: string, work: (folder: string) => Promise<void>): Promise<void> {
  const folder = temporaryFolder(name);
  try {
    await work(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function temporaryFolder(name: string): string {
  try {
    return mkdtempSync(join(tmpdir(), `trunnion-${name}-`));
  } catch (cause) {
    const why = messageOf(cause);
    throw new Error(`no room for temporary files, set TMPDIR to a folder that can be written: ${why}`, {
      cause,
    });
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
