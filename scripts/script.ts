import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  asksForHelp,
  type Given,
  helpOf,
  type Options,
  parseArguments,
  type Shape,
} from '../src/command/arguments.js';
import { configProblem } from '../src/config/config.js';
import { isRobotError, messageOf } from '../src/core/errors.js';

/** Runs the work of a script. Prints one line for a failure from outside, and the stack for a defect of the script. */
export async function script(work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isDefect(error)) throw error;
    const [line] = messageOf(error).split('\n');
    console.error(line);
    // Also ends the servers and callers that the work has started.
    process.exit(1);
  }
}

/** Plain errors, errors of the robot and system errors with `errno` are failures from outside. All others are defects. */
function isDefect(error: unknown): boolean {
  if (!(error instanceof Error) || isRobotError(error) || 'errno' in error) return false;
  return error.constructor !== Error || error.message === '';
}

/**
 * Parses the options and operands of a script. Exits if they are wrong. Prints the help for `--help` and exits. A
 * script calls this before it does anything else.
 */
export function argumentsOf<O extends Options>(
  { command, ...help }: Omit<Shape, 'options'>,
  options: O,
): Given<O> {
  const args = process.argv.slice(2);
  const shape = { ...help, command: `${command} --`, options };
  if (asksForHelp(args)) {
    process.stdout.write(helpOf(shape));
    process.exit(0);
  }
  try {
    return parseArguments(shape, args);
  } catch (error) {
    return refuse(configProblem(error));
  }
}

/** Parses the whole number of an option. Exits if it is not a whole number, or is less than `least`. */
export function wholeNumberOf(option: string, given: string, least: number): number {
  const number = given.trim() === '' ? Number.NaN : Number(given);
  if (Number.isSafeInteger(number) && number >= least) return number;
  return refuse(`--${option} takes a whole number from ${least} on, not "${given}"`);
}

/** Returns the given value if it is one of these names. Exits if it is not. */
export function oneOf<Name extends string>(option: string, given: string, names: readonly Name[]): Name {
  const chosen = names.find(name => name === given);
  return chosen ?? refuse(`--${option} takes ${names.join(' or ')}, not "${given}"`);
}

/** Runs `work` with a temporary folder, and removes the folder afterwards. */
export async function withFolder<T>(name: string, work: (folder: string) => Promise<T>): Promise<T> {
  const folder = temporaryFolder(name);
  try {
    return await work(folder);
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

/** Exits because of a wrong argument. */
export function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

/** Throws if a program is missing. The error names the Debian package that brings it. */
export function requireProgram(program: string, debianPackage: string): void {
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined) return;
  throw new Error(`no ${program}: apt install ${debianPackage}`);
}
