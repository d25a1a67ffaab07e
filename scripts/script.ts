import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { isRobotError, messageOf } from '../src/core/errors.js';

/** Runs the work of a script. A failure is one line for the person at the terminal. A defect shows its place in the code. */
export async function script(work: () => void | Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (isDefect(error)) throw error;
    const [line] = messageOf(error).split('\n');
    console.error(line);
    // Ends the servers and callers that the work has started.
    process.exit(1);
  }
}

/** Failures from outside are plain errors, errors of the robot, or errors of the system with a number. */
function isDefect(error: unknown): boolean {
  if (!(error instanceof Error) || isRobotError(error) || 'errno' in error) return false;
  return error.constructor !== Error || error.message === '';
}

/** An option of a script, with its line in the help. */
export type Option = NonNullable<ParseArgsConfig['options']>[string] & { readonly about: string };

/** What `--help` prints of a script. */
export interface Help {
  /** As in `npm run walk`. */
  readonly command: string;
  readonly about: string;
  /** The operands, as in `[FOLDER]`. A script without them takes options only. */
  readonly operands?: string;
}

/**
 * The options and operands that a script was started with. Ends the process if they are wrong, and after printing the help
 * for `--help`. A script calls it before it does anything else.
 */
export function argumentsOf<Options extends Readonly<Record<string, Option>>>(help: Help, options: Options) {
  const args = process.argv.slice(2);
  if (args.some(arg => arg === '--help' || arg === '-h')) {
    process.stdout.write(helpOf(help, options));
    process.exit(0);
  }
  try {
    return parseArgs({ args: joinNegatives(args), options, allowPositionals: help.operands !== undefined });
  } catch (error) {
    return refuse(`${messageOf(error)}\n${help.command} -- --help lists the options.`);
  }
}

function helpOf({ command, about, operands }: Help, options: Readonly<Record<string, Option>>): string {
  const names = Object.entries(options).map(
    ([name, { type }]) => `--${name}${type === 'string' ? ' …' : ''}`,
  );
  const width = Math.max(0, ...names.map(name => name.length));
  const lines = Object.values(options).map(({ about, default: usual }, index) => {
    const usually = usual === undefined || usual === false ? '' : ` (default: ${usual})`;
    return `  ${names[index]?.padEnd(width)}  ${about}${usually}\n`;
  });
  const given = [operands, names.length > 0 ? '[OPTIONS]' : undefined].filter(part => part !== undefined);
  const usage = [command, ...(given.length > 0 ? ['--', ...given] : [])].join(' ');
  return `${usage}\n\n${about}\n${lines.length > 0 ? `\n${lines.join('')}` : ''}`;
}

/** Turns `--kp -5` into `--kp=-5`, because the parser takes `-5` for an option. */
function joinNegatives(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const last = joined.at(-1);
    if (/^-[.\d]/.test(arg) && last?.startsWith('--')) joined.splice(-1, 1, `${last}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

/** The whole number given for an option. Ends the process if it is no whole number, or less than `least`. */
export function wholeNumberOf(option: string, given: string, least: number): number {
  const number = given.trim() === '' ? Number.NaN : Number(given);
  if (Number.isSafeInteger(number) && number >= least) return number;
  return refuse(`--${option} takes a whole number from ${least} on, not "${given}"`);
}

/** The one of these names that was given for an option. Ends the process if it is another. */
export function oneOf<Name extends string>(option: string, given: string, names: readonly Name[]): Name {
  const chosen = names.find(name => name === given);
  return chosen ?? refuse(`--${option} takes ${names.join(' or ')}, not "${given}"`);
}

/** Runs `work` with a temporary folder, and removes the folder afterwards. */
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

/** Ends the process because of a wrong argument. */
export function refuse(why: string): never {
  console.error(why);
  process.exit(2);
}

/** Throws if a program is missing. The error names the Debian package that brings it. */
export function requireProgram(program: string, debianPackage: string): void {
  if (spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined) return;
  throw new Error(`no ${program}: apt install ${debianPackage}`);
}
