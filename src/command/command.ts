import { configProblem } from '../config/config.js';
import { errnoOf, isRobotError, whyUnreadable } from '../core/errors.js';
import { version } from '../core/version.js';
import { problemOf } from '../http/problems.js';
import {
  asksForHelp,
  type Given,
  HELP,
  helpOf,
  helpRows,
  nearest,
  type Options,
  optionRows,
  parseArguments,
  type Row,
  type Shape,
  tokensOf,
  wrapped,
} from './arguments.js';
import { type Colours, print } from './output.js';

/** What each exit code means. Help and manual page derive from this table. */
export const EXIT_CODES = {
  0: 'done, and nothing is wrong',
  1: 'something is wrong, or the command failed',
  2: 'wrong use: the command line or the configuration',
  3: 'refused: the robot, or the rights of the caller, do not allow it now',
  4: 'no daemon answers',
} as const;

export type ExitCode = keyof typeof EXIT_CODES;

/** The output of a command. */
export interface Said {
  readonly text: string;
  readonly exitCode: ExitCode;
  /** The output of `--json`. By default it has `ok` and the text. */
  readonly json?: unknown;
  /** A report always goes to standard output. Other texts go to standard error unless the exit code is 0. */
  readonly isReport?: boolean;
  readonly colours?: Colours;
}

/** Makes the output of a command that ends with this exit code. */
const ending =
  (exitCode: ExitCode) =>
  (text: string): Said => ({ text, exitCode });
export const done = ending(0);
export const failed = ending(1);
/** The output for a wrong command line. */
export const wrong = ending(2);
export const refused = ending(3);

/** The output if a file or folder that the person named cannot be read. `asRoot` is the command that could. */
export function unreadable(path: string, error: unknown, asRoot: string): Said {
  if (errnoOf(error) === 'EACCES') return refused(`You may not read ${path}: ${asRoot}`);
  return failed(`${path} cannot be read: ${whyUnreadable(error)}`);
}

/** A failure, with the output for the person at the terminal. */
export class Failure extends Error {
  readonly said: Said;

  constructor(text: string, exitCode: ExitCode = 1, json?: unknown) {
    super(text);
    this.said = { text, exitCode, json };
  }
}

/**
 * A row of a program's table of commands. `command` is its name without the name of the program, such as
 * `token add`.
 */
export interface Command extends Shape {
  /** Resolves with undefined if there is nothing to print. */
  run(program: string, args: readonly string[]): Promise<Said | undefined>;
}

export interface Program {
  readonly name: string;
  readonly about: string;
  /** The first command runs if the command line names none. */
  readonly commands: readonly Command[];
  /** The variables that it reads, each with what it does. */
  readonly environment?: readonly Row[];
}

/** The options that several commands have. Top help and manual page show them once. */
export function sharedOptions({ commands }: Program): Options {
  const all = commands.flatMap(({ options }) => Object.entries(options));
  const shared = all.filter(([, option]) => all.filter(([, other]) => other === option).length > 2);
  return { ...HELP, ...Object.fromEntries(shared) };
}

export function command<O extends Options>(
  shape: Shape<O>,
  run: (given: Given<O>) => Promise<Said | undefined>,
): Command {
  return {
    ...shape,
    run: async (program, args) => {
      const given = parseArguments({ ...shape, command: `${program} ${shape.command}` }, args);
      const said = await run(given).catch(saidOf);
      const isJson = given.tokens.some(token => token.kind === 'option' && token.name === 'json');
      return said !== undefined && isJson ? asJson(said) : said;
    },
  };
}

/** The output of a command that failed. Rethrows defects and wrong configurations. */
export function saidOf(error: unknown): Said {
  if (error instanceof Failure) return error.said;
  if (!isRobotError(error) || error.code === 'bad-config') throw error;
  const { code, detail, status } = problemOf(error).problem;
  return { text: detail, exitCode: status < 500 ? 3 : 1, json: { ok: false, code, detail } };
}

function asJson({ text, exitCode, json = { ok: exitCode === 0, detail: text } }: Said): Said {
  return { text: JSON.stringify(json, undefined, 2), exitCode, isReport: true };
}

/** The exit code if the event loop becomes empty before the command ends. Node's own exit code would be 0. */
const NEVER_DONE = 13;

/** Runs a program, and sets the exit code. */
export async function runProgram(program: Program, args: readonly string[]): Promise<void> {
  process.exitCode = NEVER_DONE;
  const said = await answer(program, args).catch((error: unknown) => wrong(configProblem(error)));
  if (said !== undefined) {
    const stream = said.isReport === true || said.exitCode === 0 ? process.stdout : process.stderr;
    print(said.text, stream, said.colours);
  }
  // If a command prints by itself and its output cannot be written, `print` has set the exit code.
  if (process.exitCode === NEVER_DONE) process.exitCode = said?.exitCode ?? 0;
}

/** What the program prints. Throws `bad-config` for a wrong command line or configuration. */
export async function answer(program: Program, args: readonly string[]): Promise<Said | undefined> {
  const { words, others } = split(program, args);
  const [first] = words;
  // After a command, a person may mean something else by `-v`, which must not keep a stop from happening.
  const isVersion = args.includes('--version') || ['-V', '-v'].includes(args[0] ?? '');
  if (isVersion || first === 'version') return done(version);
  if (first === 'help') return help(program, words.slice(1));
  if (asksForHelp(args)) return help(program, words);
  const named = longest(program, words);
  // A line that begins with an option and names no command goes to the first command, which reports what is
  // wrong.
  const isUnnamed = first === undefined || (named === undefined && args[0]?.startsWith('-'));
  if (isUnnamed) return program.commands[0]?.run(program.name, args);
  if (named === undefined) return unknown(program, words);
  const operands = words.slice(named.command.split(' ').length);
  const group = groupOf(program, named.command).filter(one => one !== named);
  const names = group.map(({ command }) => command);
  if (operands.length > 0 && nearest(words.join(' '), names) !== '') return unknown(program, words);
  return named.run(program.name, [...others, '--', ...operands]);
}

/** The command with the most words that these words begin with. */
function longest({ commands }: Program, words: readonly string[]): Command | undefined {
  const text = `${words.join(' ')} `;
  return commands
    .filter(({ command }) => text.startsWith(`${command} `))
    .sort((one, other) => other.command.length - one.command.length)[0];
}

/** The commands that begin with these words. */
function groupOf({ commands }: Program, words: string): readonly Command[] {
  return commands.filter(({ command }) => words === '' || `${command} `.startsWith(`${words} `));
}

/** The words of the command line, and the options with their values. */
function split({ commands }: Program, args: readonly string[]) {
  const all: Options = Object.assign({}, ...commands.map(({ options }) => options));
  const words: string[] = [];
  const others = [...args];
  for (const token of tokensOf(args, all).toReversed()) {
    if (token.kind === 'option') continue;
    others.splice(token.index, 1);
    if (token.kind === 'positional') words.unshift(token.value);
  }
  return { words, others };
}

/** The help of the command or the group that the words begin with. */
function help(program: Program, words: readonly string[]): Said {
  const { name, about, commands, environment = [] } = program;
  const [only, ...others] = commands;
  const text = words.join(' ');
  const isOnly = only !== undefined && others.length === 0;
  const one = isOnly ? only : longest(program, words);
  const group = groupOf(program, one?.command ?? text);
  const rowOf = ({ command, operands = [], about }: Command): Row => [
    [command, ...operands].join(' '),
    about.split('\n')[0] ?? '',
  ];
  const table = helpRows(group.map(rowOf));
  const env = environment.length === 0 ? [] : [`Environment:\n${helpRows(environment)}`];
  if (one !== undefined) {
    const more = isOnly ? env : group.length > 1 ? [`The commands of this group:\n${table}`] : [];
    const own = helpOf({ ...one, command: isOnly ? name : `${name} ${one.command}` });
    return done([own.trimEnd(), ...more].join('\n\n'));
  }
  if (group.length === 0) return unknown(program, words);
  const usage = [`Usage: ${[name, ...words].join(' ')} COMMAND [OPTIONS]`, wrapped(about), table];
  if (text !== '') return done(usage.join('\n\n'));
  const own = helpRows([
    ['help [COMMAND]', 'show this, or options and examples of a command'],
    ['version, -v', 'show the version'],
  ]);
  const options = `Options of several commands:\n${helpRows(optionRows(sharedOptions(program)))}`;
  const codes = `Exit codes:\n${helpRows(Object.entries(EXIT_CODES))}`;
  return done([...usage, own, options, ...env, codes].join('\n\n'));
}

function unknown(program: Program, words: readonly string[]): Said {
  const { name, commands } = program;
  const names = [...commands.map(({ command }) => command), 'help', 'version'];
  const near = nearest(words.join(' '), names) || nearest(words[0] ?? '', names);
  const group = groupOf(program, words[0] ?? '');
  if (near === '' && group.length > 0)
    return wrong(`the commands are: ${group.map(({ command }) => `${name} ${command}`).join(', ')}`);
  return wrong(`${name} has no command ${words.join(' ')}${near}\n${name} help lists the commands.`);
}
