import { type ParseArgsConfig, parseArgs } from 'node:util';
import { badConfig } from '../config/config-file.js';
import { visible } from '../core/control-characters.js';

/** An option of a command or a script, with its line in the help. */
type Option = NonNullable<ParseArgsConfig['options']>[string] & {
  readonly about: string;
  /** The word for the value in the help, such as DIR. */
  readonly value?: string;
  /** The default as the help shows it. If undefined, the help shows the value of `default`. */
  readonly usual?: string | undefined;
};

export type Options = Readonly<Record<string, Option>>;

/** Declares an option with a value. */
export function valued(value: string, about: string, usual?: string) {
  return { type: 'string', value, about, usual } as const;
}

/** The arguments of a command or a script. Its help and its error messages derive from this. */
export interface Shape<O extends Options = Options> {
  /** The command as a person types it, such as `trunnion stop`. */
  readonly command: string;
  readonly about: string;
  /** The names of the operands. `[X]` is optional. `[X …]` accepts any number of operands. */
  readonly operands?: readonly string[];
  readonly options: O;
  /** Command lines for the help, each with what it does. */
  readonly examples?: readonly Row[];
}

export type Given<O extends Options> = ReturnType<
  typeof parseArgs<{ options: O; allowPositionals: true; tokens: true }>
>;

export const HELP: Options = { help: { type: 'boolean', short: 'h', about: 'show this' } };

export function asksForHelp(args: readonly string[]): boolean {
  return args.includes('--help') || args.includes('-h');
}

/** Throws `bad-config` with what is wrong, in words. */
export function parseArguments<O extends Options>(shape: Shape<O>, words: readonly string[]): Given<O> {
  const args = joinNegatives(words);
  const fault = faultOf(shape, args);
  if (fault !== undefined) throw badConfig([`${fault}\n${shape.command} --help shows what it takes.`]);
  return parseArgs({ args, options: shape.options, allowPositionals: true, tokens: true });
}

/** Turns `--kp -5` into `--kp=-5`, because the parser mistakes `-5` for an option. */
function joinNegatives(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const last = joined.at(-1);
    if (/^-[.\d]/.test(arg) && last?.startsWith('--')) joined.splice(-1, 1, `${last}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

function faultOf({ options, operands = [], ...shape }: Shape, args: readonly string[]): string | undefined {
  // The command of a script ends in npm's `--`. Texts about a fault leave that out.
  const command = shape.command.replace(/ --$/, '');
  const known: Options = { ...options, ...HELP };
  const given: string[] = [];
  for (const token of tokensOf(args, known)) {
    if (token.kind === 'positional') given.push(token.value);
    if (token.kind !== 'option') continue;
    const { rawName, value, inlineValue } = token;
    const option = known[token.name];
    if (option === undefined) {
      const names = Object.keys(known).map(name => `--${name}`);
      return `${command} has no option ${rawName}${nearest(rawName, names)}`;
    }
    const isMissing = value === undefined || value === '' || (!inlineValue && value.startsWith('-'));
    if (option.type === 'string' && isMissing)
      return `${rawName} takes a value: ${rawName} ${option.value ?? 'VALUE'}`;
    if (option.type === 'boolean' && value !== undefined) return `${rawName} takes no value`;
  }
  const missing = operands.filter(name => !name.startsWith('['))[given.length];
  if (missing !== undefined) return `${command} needs ${missing}`;
  const isOver = given.length > operands.length && !operands.at(-1)?.endsWith('…]');
  return isOver ? `${command} takes no ${given[operands.length]}` : undefined;
}

/** The parts of a command line. This never throws. */
export function tokensOf(args: readonly string[], options: Options) {
  return parseArgs({ args: [...args], options, allowPositionals: true, strict: false, tokens: true }).tokens;
}

/** The help of a command. */
export function helpOf({ command, about, operands = [], options, examples = [] }: Shape): string {
  const usage = `Usage: ${[command, ...operands, '[OPTIONS]'].join(' ')}`;
  const lines = examples.map(([line, does]) => `  ${line}\n${wrapped(does, 6)}`);
  const more = lines.length === 0 ? [] : [`Examples:\n${lines.join('\n')}`];
  const parts = [usage, wrapped(about), helpRows(optionRows({ ...options, ...HELP })), ...more];
  return `${parts.join('\n\n')}\n`;
}

/** A row for each option: its names, and what it does. */
export function optionRows(options: Options): Row[] {
  return Object.entries(options).map(([name, option]) => {
    const { type, short, value, usual = option.default, about } = option;
    const names = `${short === undefined ? '' : `-${short}, `}--${name}`;
    const usually = usual === undefined || usual === false ? '' : ` (default: ${usual})`;
    return [`${names}${type === 'string' ? ` ${value ?? '…'}` : ''}`, `${about}${usually}`];
  });
}

/** The width of a terminal for which the help is made. */
const HELP_WIDTH = 80;
/** A longer left column gets a line of its own. */
const LEFT_WIDTH = 26;

/** What a person types, and what it does. */
export type Row = readonly [left: string, right: string];

/** Rows of two columns. The right one is wrapped. */
export function helpRows(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([left]) => left.length).filter(length => length <= LEFT_WIDTH), 0);
  return rows
    .map(([left, right]) => {
      const text = wrapped(right, width + 4);
      if (left.length > width) return `  ${left}\n${text}`;
      return `  ${left.padEnd(width)}${text.slice(width + 2)}`;
    })
    .join('\n');
}

/** Breaks the lines of a text at blanks, and indents them. */
export function wrapped(text: string, indent = 0): string {
  const margin = ' '.repeat(indent);
  return text
    .split('\n')
    .map(line => {
      const lines: string[] = [];
      for (const word of line.split(' ')) {
        const last = lines.at(-1);
        if (last === undefined || `${last} ${word}`.length > HELP_WIDTH) lines.push(margin + word);
        else lines.splice(-1, 1, `${last} ${word}`);
      }
      return lines.join('\n');
    })
    .join('\n');
}

/** Rows of two columns, one line each, whatever the texts contain. */
export function columns(rows: readonly Row[]): string {
  const width = Math.max(...rows.map(([left]) => left.length));
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${visible(right)}\n`).join('');
}

/** A question that suggests the nearest of these names; empty if none is near. */
export function nearest(word: string, names: readonly string[]): string {
  const near = names
    .map(name => {
      const most = Math.max(1, Math.min(word.length, name.length) / 3);
      return { name, most, distance: distance(word, name, most) };
    })
    .filter(({ most, distance }) => distance <= most)
    .sort((one, other) => one.distance - other.distance)[0];
  return near === undefined ? '' : `: did you mean ${near.name}?`;
}

/** The number of letters to insert, delete or replace. Two swapped neighbours count once. Past `most` it stops counting. */
function distance(from: string, to: string, most: number): number {
  if (most < 0) return Number.POSITIVE_INFINITY;
  if (from === '' || to === '') return from.length + to.length;
  if (from[0] === to[0]) return distance(from.slice(1), to.slice(1), most);
  const isSwapped = from.length > 1 && from[0] === to[1] && from[1] === to[0];
  const others = [[1, 0], [0, 1], [1, 1], ...(isSwapped ? [[2, 2]] : [])];
  return (
    1 + Math.min(...others.map(([left, right]) => distance(from.slice(left), to.slice(right), most - 1)))
  );
}
