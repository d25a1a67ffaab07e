import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { RobotError } from '../core/errors.js';
import { SETTINGS, type Setting } from './settings.js';

export interface ConfigProblem {
  readonly line: number;
  readonly key: string;
  readonly detail: string;
}

export type Tree = Record<string, Record<string, unknown>>;

/** A configuration file, with the place of everything in it. */
export class ConfigFile {
  readonly #file: string;
  readonly #lines = new LineCounter();
  readonly #document: Document;
  readonly #problems: ConfigProblem[] = [];
  /** The settings that are right. */
  readonly tree: Tree = {};

  /** Throws `bad-config` when it cannot be read or is not YAML; other problems wait for `finish`. */
  constructor(file: string) {
    this.#file = file;
    const text = textOf(file);
    this.#document = parseDocument(text, { lineCounter: this.#lines });
    for (const { code, message, pos } of [...this.#document.errors, ...this.#document.warnings]) {
      const [from] = pos;
      this.#problems.push({
        line: this.#lineAt(from),
        key: '',
        detail: inWords(code, message, text.slice(from)),
      });
    }
    visit(this.#document, {
      Alias: (_, { range }) => {
        const line = this.#lineAt(range?.[0] ?? 0);
        this.#problems.push({ line, key: '', detail: 'expected values, no aliases' });
        return visit.BREAK;
      },
    });
    this.finish();
    this.#take(this.#document.toJS() ?? {});
  }

  /** One more problem, of the setting at `path`; its line is that of the nearest part that the file has. */
  refuse(path: readonly string[], detail: string): void {
    let node: unknown = this.#document.contents;
    let offset = 0;
    for (const part of path) {
      if (!isMap(node)) break;
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
      offset = offsetOf(pair?.key) ?? offset;
      node = pair?.value;
    }
    this.#problems.push({ line: this.#lineAt(offset), key: path.join('.'), detail });
  }

  /** Throws `bad-config` with every problem there was, in the order of the file. */
  finish(): void {
    if (this.#problems.length === 0) return;
    const problems = this.#problems.toSorted((a, b) => a.line - b.line);
    throw new RobotError('bad-config', { file: this.#file, problems });
  }

  #take(root: unknown): void {
    if (!isObject(root)) this.refuse([], 'expected settings in sections');
    else for (const [section, values] of Object.entries(root)) this.#takeSection(section, values);
  }

  #takeSection(section: string, values: unknown): void {
    const settings = memberOf<Readonly<Record<string, Setting<unknown>>>>(SETTINGS, section);
    if (settings === undefined) this.refuse([section], unknown(SETTINGS));
    // A section whose every line is commented out reads as null.
    else if (values === null) return;
    else if (!isObject(values)) this.refuse([section], 'expected settings, each as "name: value"');
    else for (const [key, value] of Object.entries(values)) this.#takeSetting(section, key, value, settings);
  }

  #takeSetting(
    section: string,
    key: string,
    value: unknown,
    settings: Readonly<Record<string, Setting<unknown>>>,
  ): void {
    const setting = memberOf(settings, key);
    if (setting === undefined) {
      this.refuse([section, key], unknown(settings));
      return;
    }
    // Taken before the check, which fills in defaults.
    const found = shown(value);
    const ajv = new Ajv({ strict: false, strictNumbers: true, useDefaults: true });
    if (ajv.validate(setting.schema, value)) {
      this.tree[section] = { ...this.tree[section], [key]: value };
      return;
    }
    const [, ...inner] = (ajv.errors?.[0]?.instancePath ?? '').split('/');
    this.refuse([section, key, ...inner], `expected ${setting.expected}; found ${found}`);
  }

  #lineAt(offset: number): number {
    return this.#lines.linePos(offset).line;
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = `cannot read the configuration: ${error instanceof Error ? error.message : String(error)}`;
    throw new RobotError('bad-config', { reason }, { cause: error });
  }
}

/** Where the parser speaks to programmers, for the person who wrote the file. */
function inWords(code: string, message: string, found: string): string {
  if (code === 'DUPLICATE_KEY') return `${/^[^\s:]+/.exec(found)?.[0]} is given twice`;
  if (code === 'MULTIPLE_DOCS') return 'expected one document, and no "---" after it';
  return message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message;
}

function unknown(known: object): string {
  return `there is no such setting; expected one of ${Object.keys(known).join(', ')}`;
}

function shown(value: unknown): string {
  const finite = (_: string, part: unknown) =>
    Number.isFinite(part) || typeof part !== 'number' ? part : `${part}`;
  return JSON.stringify(value, finite);
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function memberOf<T>(of: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(of, name) ? of[name] : undefined;
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}
