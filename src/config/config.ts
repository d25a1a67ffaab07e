import { Ajv } from 'ajv';
import { isRobotError, RobotError } from '../core/errors.js';
import { ConfigFile, type Tree } from './config-file.js';
import { type Config, disagreements, SETTINGS } from './settings.js';

export type { Config } from './settings.js';

/** What the command line says goes over the file. */
export interface Overrides {
  readonly host?: string;
  readonly port?: number;
  readonly state?: string;
}

/** Throws `bad-config` with every problem of the file and its line. */
export function loadConfig(
  file: string | undefined,
  overrides: Overrides,
  defaults: { readonly host: string; readonly state: string },
): Config {
  const tree = over(defaultTree(), { http: { host: defaults.host }, state: { folder: defaults.state } });
  const read = file === undefined ? undefined : new ConfigFile(file);
  const config = checked(over(tree, read?.tree ?? {}));
  for (const { path, detail } of disagreements(config)) read?.refuse(path, detail);
  read?.finish();

  const { host, port, state } = overrides;
  return deepFreeze(
    checked(
      over(config, {
        http: { ...(host !== undefined && { host }), ...(port !== undefined && { port }) },
        state: { ...(state !== undefined && { folder: state }) },
      }),
    ),
  );
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
    Object.entries(SETTINGS).map(([section, settings]) => {
      const properties: Record<string, object> = Object.fromEntries(
        Object.entries(settings).map(([key, setting]) => [key, setting.schema]),
      );
      return [section, { type: 'object', properties }];
    }),
  ),
};
const isConfig = new Ajv({ strict: false }).compile<Config>(schema);

/** What fails here came by the command line. */
function checked(tree: Tree | Config): Config {
  if (isConfig(tree)) return tree;
  const [, section = '', key = ''] = isConfig.errors?.[0]?.instancePath.split('/') ?? [];
  const settings: Readonly<Record<string, Readonly<Record<string, { expected: string }>>>> = SETTINGS;
  throw new RobotError('bad-config', {
    reason: `${section}.${key}: expected ${settings[section]?.[key]?.expected}`,
  });
}

function defaultTree(): Tree {
  return Object.fromEntries(
    Object.entries(SETTINGS).map(([section, settings]) => [
      section,
      Object.fromEntries(Object.entries(settings).map(([key, setting]) => [key, setting.default])),
    ]),
  );
}

function over(below: Tree | Config, above: Tree): Tree {
  return Object.fromEntries(
    Object.entries(below).map(([section, values]) => [section, { ...values, ...above[section] }]),
  );
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}
