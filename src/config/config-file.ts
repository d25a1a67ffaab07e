import { readFileSync } from 'node:fs';
import {
  type Document,
  isCollection,
  isMap,
  isNode,
  isScalar,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
} from 'yaml';
import { RobotError, whyUnreadable } from '../core/errors.js';

/** A parsed configuration file. Its settings are not checked yet. */
export interface ConfigFile {
  readonly tree: unknown;
  /**
   * The line of the setting at `path`. If the file does not have that setting, the line of its nearest
   * parent.
   */
  lineOf(path: readonly string[]): number;
}

/** Throws `bad-config`, with every fault, if the file cannot be read or is not YAML. */
export function readConfigFile(file: string): ConfigFile {
  const text = textOf(file);
  const lines = new LineCounter();
  const lineAt = (offset: number) => lines.linePos(offset).line;
  const document = parseDocument(text, { lineCounter: lines });
  const faults = [...document.errors, ...document.warnings].map(({ code, message, pos: [from] }) => ({
    line: lineAt(from),
    detail: inWords(code, message, text.slice(from)),
  }));
  visit(document, {
    Alias: (_, { range }) => {
      faults.push({ line: lineAt(range?.[0] ?? 0), detail: 'expected values, no aliases' });
    },
    Pair: (_, { key }) => {
      if (!isCollection(key)) return;
      faults.push({ line: lineAt(key.range?.[0] ?? 0), detail: 'expected a name before the colon' });
    },
  });
  // Equal faults of one line are reported once.
  const said = new Set(faults.map(({ line, detail }) => `${file}:${line}: ${detail}`));
  if (said.size > 0) throw badConfig([...said]);
  return { tree: document.toJS(), lineOf: path => lineAt(offsetOf(document, path)) };
}

/** `problems` has one line for each fault. */
export function badConfig(problems: readonly string[], cause?: unknown): RobotError {
  return new RobotError('bad-config', { reason: problems.join('\n') }, { cause });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw badConfig([`cannot read the configuration ${file}: ${whyUnreadable(error)}`], error);
  }
}

function offsetOf({ contents }: Document, path: readonly string[]): number {
  let node: unknown = contents;
  let offset = 0;
  for (const part of path) {
    if (isSeq(node)) {
      node = node.items[Number(part)];
      if (isNode(node)) offset = node.range?.[0] ?? offset;
      continue;
    }
    if (!isMap(node)) break;
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === part);
    if (isScalar(pair?.key)) offset = pair.key.range?.[0] ?? offset;
    node = pair?.value;
  }
  return offset;
}

/** Rewords some messages of the YAML parser. */
function inWords(code: string, message: string, found: string): string {
  if (code === 'DUPLICATE_KEY') return `${/^[^\s:]+/.exec(found)?.[0]} is given twice`;
  if (code === 'MULTIPLE_DOCS') return 'expected one document, and no "---" after it';
  return message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? message;
}
