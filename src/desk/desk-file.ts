import { statSync } from 'node:fs';
import { badConfig, readConfigFile } from '../config/config-file.js';
import { PORTS } from '../config/settings.js';
import { isRobotError } from '../core/errors.js';
import { isListenHost } from '../core/listen-host.js';
import { compile } from '../http/validate.js';
import * as s from '../schemas/schema.js';

const MOST_ROBOTS = 40;
/** The characters of a token, in FILE and in a link. */
export const TOKEN = '[0-9A-Za-z-]{8,200}';
const seconds = (description: string) => ({ ...s.number(description), minimum: 0, maximum: 3600 });
const list = <T>(items: s.Schema<T>, description: string) => s.optional(s.array(items, description));
const schema = s.object({
  host: s.optional(s.text('The address to listen on.')),
  port: s.optional({ ...s.count('The port to listen on.'), ...PORTS }),
  state: s.optional(s.text('The folder of state and records.')),
  allowedHosts: list(s.text(), 'Host names under which browsers may open the page.'),
  pauseWithoutPage: s.optional(
    seconds('Pauses a match if no page of a referee answers for so long; 0 = never.'),
  ),
  robots: {
    ...s.array(
      s.object({
        name: s.name(40),
        address: { ...s.text('an address such as http://192.0.2.11:8080'), pattern: '^http://[^/?#@]+/?$' },
        token: { ...s.text('a token, as token add prints it'), pattern: `^${TOKEN}$` },
      }),
    ),
    maxItems: MOST_ROBOTS,
  },
  matches: list(
    s.object({
      id: s.name(64),
      robots: s.array(s.text()),
      auto: seconds('Seconds.'),
      teleop: seconds('Seconds.'),
    }),
    'The matches.',
  ),
});
const check = compile(schema);

export const DESK_PORT = 8090;

export type DeskFile = ReturnType<typeof readDeskFile>;

/** Reads FILE. Throws `bad-config` with the line of every mistake. */
export function readDeskFile(file: string, defaultState: string) {
  const { tree, lineOf } = readConfigFile(file);
  // Every robot's token is in the file.
  if ((statSync(file).mode & 0o077) !== 0)
    throw badConfig([`${file}: others may read it: chmod 600 ${file}`]);
  const at = (pointer: string, detail: string) => {
    const path = pointer.split('/').slice(1);
    return { line: lineOf(path), text: `${path.join('.')} ${detail}`.trim() };
  };
  const fail = (faults: readonly { line: number; text: string }[]) =>
    badConfig(
      [...faults].sort((a, b) => a.line - b.line).map(({ line, text }) => `${file}:${line}: ${text}`),
    );
  const given = (() => {
    try {
      return check(tree);
    } catch (error) {
      if (!isRobotError(error, 'invalid-request')) throw error;
      throw fail(error.context.errors.map(({ pointer, detail }) => at(pointer, detail)));
    }
  })();
  const robots = given.robots.map(robot => ({ ...robot, address: robot.address.replace(/\/$/, '') }));
  const { matches = [] } = given;
  const twice = <T>(list: string, items: readonly T[], member: keyof T & string) =>
    items.flatMap((item, index) =>
      items.findIndex(one => one[member] === item[member]) < index
        ? [at(`/${list}/${index}/${member}`, `is given twice: ${item[member]}`)]
        : [],
    );
  const { host = '127.0.0.1', port = DESK_PORT } = given;
  const faults = [
    ...(isListenHost(host) ? [] : [at('/host', `is no address: ${host}`)]),
    ...twice('robots', robots, 'name'),
    ...twice('robots', robots, 'address'),
    ...twice('matches', matches, 'id'),
    ...robots.flatMap(({ address }, index) =>
      URL.canParse(address) ? [] : [at(`/robots/${index}/address`, `is no address: ${address}`)],
    ),
    ...matches.flatMap((match, index) =>
      match.auto + match.teleop > 0 ? [] : [at(`/matches/${index}`, 'has no time')],
    ),
    ...matches.flatMap((match, index) =>
      new Set(match.robots).size === match.robots.length && match.robots.length > 0
        ? []
        : [at(`/matches/${index}/robots`, 'must name at least one robot, and none twice')],
    ),
  ];
  if (faults.length > 0) throw fail(faults);
  return {
    host,
    port,
    state: given.state ?? defaultState,
    allowedHosts: given.allowedHosts ?? [],
    pauseWithoutPageMs: 1000 * (given.pauseWithoutPage ?? 5),
    robots,
    plans: matches.map(({ id, robots, auto, teleop }) => ({ id, robots, autoS: auto, teleopS: teleop })),
  };
}
