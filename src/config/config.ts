import { isRobotError } from '../core/errors.js';
import { badConfig, type ConfigFile, readConfigFile } from './config-file.js';
import { configCheck, type Defaults, faultOf, withoutNulls } from './config-schema.js';
import type { Config } from './settings.js';

export type { Config } from './settings.js';

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

/** The problems of a configuration, one line each. */
export function configProblem(error: unknown): string {
  if (!isRobotError(error, 'bad-config')) throw error;
  return error.context.reason;
}
