import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { isRobotError } from '../core/errors.js';
import { isListenHost } from '../core/listen-host.js';
import { badConfig, type ConfigFile, readConfigFile } from './config-file.js';
import { type Config, objectOf, SETTINGS, type Setting } from './settings.js';

/** The defaults that differ between the robot and the simulator. */
interface Defaults {
  readonly host: string;
  readonly state: string;
}

/** Settings of the command line. They override the file. */
interface Overrides {
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly state?: string | undefined;
}

const NO_FILE: ConfigFile = { tree: {}, lineOf: () => 0 };

/** Throws `bad-config` with every problem of the file and its line. */
export function loadConfig(file: string | undefined, overrides: Overrides, defaults: Defaults): Config {
  const { tree, lineOf } = file === undefined ? NO_FILE : readConfigFile(file);
  const config = withoutNulls(tree);
  const check = configCheck(config, defaults);
  if (!check(config)) {
    const faults = (check.errors ?? []).map(faultOf).map(fault => ({ line: lineOf(fault.path), ...fault }));
    const lines = faults
      .toSorted((a, b) => a.line - b.line)
      .map(({ line, path, detail }) =>
        [`${file}:${line}`, ...(path.length > 0 ? [path.join('.')] : []), detail].join(': '),
      );
    // A value can fail several alternatives of one setting. The setting is reported once.
    throw badConfig([...new Set(lines)]);
  }
  const { host = config.http.host, port = config.http.port, state = config.state.folder } = overrides;
  return { ...config, http: { ...config.http, host, port }, state: { folder: state } };
}

/** The problems of a configuration, one line each. Rethrows any other error. */
export function configProblem(error: unknown): string {
  if (!isRobotError(error, 'bad-config')) throw error;
  return error.context.reason;
}

const SECTIONS: Readonly<Record<string, Readonly<Record<string, Setting<unknown>>>>> = SETTINGS;

/** Makes the check of a whole configuration, which also fills in defaults. `given` is the parsed file. */
function configCheck(given: unknown, defaults: Defaults): ValidateFunction<Config> {
  const ajv = new Ajv({
    allErrors: true,
    useDefaults: true,
    verbose: true,
    $data: true,
    strict: false,
    strictNumbers: true,
    // The schema is known to be valid, and is used once. Checking and optimising it would only slow the start.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  ajv.addKeyword(silenceOfPolls);
  ajv.addKeyword({ keyword: 'isListenHost', validate: (_: true, host: string) => isListenHost(host) });
  return ajv.compile<Config>(schemaOf(defaults, given));
}

/** Keyword of the schema: the host silence is 0, or lasts at least this many polls. */
const silenceOfPolls = {
  keyword: 'silenceOfPolls',
  type: 'number' as const,
  validate: (polls: number, silenceMs: number, _: unknown, place?: { parentData: { pollHz?: unknown } }) => {
    const pollHz = place?.parentData.pollHz;
    return silenceMs === 0 || typeof pollHz !== 'number' || silenceMs * pollHz >= polls * 1000;
  },
};

/** Leaves out null sections: the parser gives null for a section with all its lines commented out. */
function withoutNulls(tree: unknown): unknown {
  if (typeof tree !== 'object' || Array.isArray(tree)) return tree;
  return Object.fromEntries(Object.entries(tree ?? {}).filter(([, settings]) => settings !== null));
}

/**
 * Only the sections in the file get a full schema. Compiling the schema of all sections would take a sixth of
 * the start-up time.
 */
function schemaOf({ host, state }: Defaults, given: unknown): object {
  const own: Readonly<Record<string, unknown>> = { 'http.host': host, 'state.folder': state };
  const sections = Object.entries(SECTIONS).map(([section, settings]) => {
    const isGiven = typeof given === 'object' && given !== null && section in given;
    const properties = Object.entries(settings).map(([key, setting]) => {
      const byDefault = own[`${section}.${key}`] ?? setting.default;
      return [key, isGiven ? { ...setting.schema, default: byDefault } : byDefault];
    });
    const table = Object.fromEntries(properties);
    return [section, isGiven ? tableOf(table) : { default: table }];
  });
  return tableOf(Object.fromEntries(sections));
}

function tableOf(properties: object): object {
  return { ...objectOf(properties), default: {} };
}

/** What is wrong with the setting at `path`. The path is empty for the whole file. */
function faultOf({ instancePath, params, parentSchema, data }: ErrorObject) {
  const path = instancePath.split('/').slice(1);
  if (params.additionalProperty !== undefined) {
    const known = Object.keys(parentSchema?.properties).join(', ');
    const detail = `there is no such setting; expected one of ${known}`;
    return { path: [...path, params.additionalProperty], detail };
  }
  return { path, detail: `expected ${expectedAt(path)}; found ${shown(data)}` };
}

function expectedAt([section, key]: readonly string[]): string {
  if (section === undefined) return 'settings in sections';
  if (key === undefined) return 'settings, each as "name: value"';
  return SECTIONS[section]?.[key]?.expected ?? 'something else';
}

function shown(value: unknown): string {
  const finite = (_: string, part: unknown) =>
    Number.isFinite(part) || typeof part !== 'number' ? part : `${part}`;
  return JSON.stringify(value, finite);
}
