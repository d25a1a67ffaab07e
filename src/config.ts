import { readFileSync } from 'node:fs';
import { Ajv, type ErrorObject } from 'ajv';
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from 'yaml';
import { isRobotError, RobotError } from './errors.js';
import { type Config, SETTINGS } from './settings.js';

export type { Config } from './settings.js';

export interface ConfigProblem {
  readonly line: number;
  readonly key: string;
  readonly detail: string;
}

/** What the command line says goes over the file. */
export interface Overrides {
  readonly host?: string;
  readonly port?: number;
  readonly state?: string;
}

type Tree = Record<string, Record<string, unknown>>;

/** Throws `bad-config` with every problem of the file and its line. */
export function loadConfig(
  file: string | undefined,
  overrides: Overrides,
  defaults: { readonly host: string; readonly state: string },
): Config {
  const tree = defaultTree();
  Object.assign(tree.http ?? {}, { host: defaults.host });
  Object.assign(tree.state ?? {}, { folder: defaults.state });
  if (file !== undefined) {
    for (const [section, values] of Object.entries(readTree(file)))
      Object.assign(tree[section] ?? {}, values);
  }
  const { host, port, state } = overrides;
  Object.assign(tree.http ?? {}, host !== undefined && { host }, port !== undefined && { port });
  Object.assign(tree.state ?? {}, state !== undefined && { folder: state });
  if (!isConfig(tree)) throw new TypeError('the defaults do not make a configuration');
  return deepFreeze(tree);
}

/** For the person who wrote the file, a line for each problem. */
export function configProblem(error: unknown): string {
  if (!isRobotError(error, 'bad-config')) throw error;
  const { file, reason, problems } = error.context;
  if (!Array.isArray(problems)) return [file, reason].filter(part => part !== undefined).join(': ');
  return problems
    .map(({ line, key, detail }) => `${file}:${line}: ${key ? `${key}: ` : ''}${detail}`)
    .join('\n');
}

const schema = {
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(SETTINGS).map(([section, settings]) => [
      section,
      {
        type: 'object',
        properties: Object.fromEntries(
          Object.entries(settings).map(([key, setting]) => [key, setting.schema]),
        ),
        additionalProperties: false,
      },
    ]),
  ),
  additionalProperties: false,
};
const checkFile = new Ajv({ allErrors: true, strict: false, useDefaults: true }).compile<Tree>(schema);
const isConfig = new Ajv({ strict: false }).compile<Config>(schema);

function defaultTree(): Tree {
  return Object.fromEntries(
    Object.entries(SETTINGS).map(([section, settings]) => [
      section,
      Object.fromEntries(Object.entries(settings).map(([key, setting]) => [key, setting.default])),
    ]),
  );
}

function readTree(file: string): Tree {
  const lines = new LineCounter();
  const document = parseDocument(textOf(file), { lineCounter: lines });
  const refuse = (problems: readonly ConfigProblem[]) => new RobotError('bad-config', { file, problems });
  if (document.errors.length > 0) {
    throw refuse(
      document.errors.map(error => ({
        line: lines.linePos(error.pos[0]).line,
        key: '',
        detail: error.message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '',
      })),
    );
  }
  const tree: unknown = withoutEmptySections(document.toJS() ?? {});
  if (!checkFile(tree)) throw refuse(problemsOf(checkFile.errors ?? [], document, lines));
  const crossed = crossedBounds(tree.gains?.bounds);
  if (crossed !== undefined) {
    throw refuse([
      { ...placeOf(['gains', 'bounds', crossed], document, lines), detail: 'expected min below max' },
    ]);
  }
  return tree;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new RobotError(
      'bad-config',
      { reason: `cannot read the configuration: ${reason}` },
      { cause: error },
    );
  }
}

/** A section whose every line is commented out reads as null. */
function withoutEmptySections(tree: unknown): unknown {
  if (typeof tree !== 'object' || tree === null || Array.isArray(tree)) return tree;
  return Object.fromEntries(Object.entries(tree).filter(([, section]) => section !== null));
}

/** One problem for each setting at fault, however many checks it failed. */
function problemsOf(errors: readonly ErrorObject[], document: Document, lines: LineCounter): ConfigProblem[] {
  const problems = new Map<string, ConfigProblem>();
  for (const { keyword, instancePath, params } of errors) {
    const path = instancePath.split('/').slice(1);
    const unknown: unknown = keyword === 'additionalProperties' ? params.additionalProperty : undefined;
    if (typeof unknown === 'string') path.push(unknown);
    const problem = { ...placeOf(path, document, lines), detail: detailOf(path, unknown, document) };
    if (!problems.has(problem.key)) problems.set(problem.key, problem);
  }
  return [...problems.values()].sort((a, b) => a.line - b.line);
}

function detailOf(path: readonly string[], unknown: unknown, document: Document): string {
  const sections: Readonly<Record<string, Readonly<Record<string, { expected: string }>>>> = SETTINGS;
  const [section = '', key = ''] = path;
  const setting = sections[section]?.[key];
  if (setting !== undefined) {
    const found = JSON.stringify(document.getIn([section, key]) ?? null);
    return `expected ${setting.expected}; found ${found}`;
  }
  if (unknown === undefined) return 'expected settings, each as "name: value"';
  const known = Object.keys(path.length > 1 ? (sections[section] ?? {}) : sections);
  return `there is no such setting; expected one of ${known.join(', ')}`;
}

function placeOf(path: readonly string[], document: Document, lines: LineCounter) {
  let node: unknown = document.contents;
  let offset = 0;
  for (const part of path) {
    if (!isMap(node)) break;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
    offset = offsetOf(pair?.key) ?? offset;
    node = pair?.value;
  }
  return { line: lines.linePos(offset).line, key: path.join('.') };
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function crossedBounds(bounds: unknown): string | undefined {
  if (typeof bounds !== 'object' || bounds === null) return undefined;
  return Object.entries(bounds).find(([, { min, max }]) => min > max)?.[0];
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
