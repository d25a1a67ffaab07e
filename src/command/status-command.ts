import { type Board, boardOf } from '../access/board.js';
import { healthLines, safetyLines } from '../console/bar/lines.js';
import { UNIT_LIST, type UnitName } from '../core/units.js';
import { tookEffect } from '../http/problem-table.js';
import type { LogEvent } from '../schemas/log.js';
import { isStatus, type Status } from '../schemas/status.js';
import { columns } from './arguments.js';
import { type Said, saidOf } from './command.js';
import { print, repeat } from './output.js';
import { askDaemon, boardStatus, type Place, refusalOf } from './place.js';

/** `trunnion status`: what the robot's daemon shows, what is wrong, and from the event log why, by whom and since when. */
export async function statusCommand(place: Place): Promise<Said> {
  const answer = await boardStatus(place, 'status');
  const { body } = answer;
  if (!isStatus(body)) throw refusalOf(answer);
  const wrong = wrongIn(body);
  const events = await eventsOf(place);
  return {
    text: statusText(body, boardOf(body), events),
    exitCode: wrong.length === 0 ? 0 : 1,
    json: { safe: isSafe(body), wrong, ...(body.stopped && { stop: originOf(events, 'stop') }), ...body },
    isReport: true,
  };
}

/** Shows the status once a second. Resolves with the first answer if that is no status. */
export async function watchStatus(place: Place, isJson: boolean): Promise<Said | undefined> {
  let isShown = false;
  let failure: Said | undefined;
  await repeat(async () => {
    const said = await statusCommand(place).catch(saidOf);
    if (!isShown && said.isReport !== true) {
      failure = said;
      return false;
    }
    isShown = true;
    if (!isJson && process.stdout.isTTY) process.stdout.write('\u001b[H\u001b[2J');
    print(isJson ? JSON.stringify(said.json ?? { ok: false, detail: said.text }) : said.text, process.stdout);
    return true;
  });
  return failure;
}

/** What is wrong, one sentence each. A stop, a lock and a lit laser are not wrong. */
export function wrongIn(status: Status): string[] {
  const lines = [...safetyLines({ ...status, stopped: false }, true), ...healthLines(status)];
  return [
    ...lines.filter(({ tone }) => tone !== 'note').map(({ about, text }) => `${about} ${text}`),
    ...(status.match.refereeSilent ? ["The referee's desk is silent."] : []),
  ];
}

/** Whether the laser is proven dark, and no motor can push. */
export function isSafe(status: Status): boolean {
  return status.laser.light === 'dark' && UNIT_LIST.every(({ name }) => !mayPush(status, name));
}

function mayPush(status: Status, name: UnitName): boolean {
  return ['on', 'unknown'].includes(status[name].torque);
}

/** The status as text for one screen. */
export function statusText(status: Status, board?: Board, events: readonly LogEvent[] = []): string {
  const [firstWrong = 'nothing', ...others] = wrongIn(status);
  return columns([
    ['robot', robot(status, board)],
    ['safe', safety(status)],
    ...(status.stopped ? [['stopped', `yes${origin(events, 'stop')}`] as const] : []),
    ...(status.laser.reason === undefined ? [] : [['laser', `went dark${origin(events, 'laser')}`] as const]),
    ['access', access(status, board)],
    ['match', match(status, events)],
    ['allowed', allowed(status)],
    ...UNIT_LIST.map(({ name }) => [name, unit(status, name, events)] as const),
    ['storage', storage(status)],
    ['wrong', firstWrong],
    ...others.map(one => ['', one] as const),
  ]);
}

function robot({ version, simulated, uptimeS }: Status, board: Board | undefined): string {
  const hours = Math.floor(uptimeS / 3600);
  const up = `${hours > 0 ? `${hours} h ` : ''}${Math.floor((uptimeS % 3600) / 60)} min`;
  const port = board === undefined ? '' : `, port ${board.port}`;
  return `${simulated ? 'SIMULATED robot' : 'robot'}, version ${version}, up ${up}${port}`;
}

/** A caller's request is recorded at most this long after its effect. */
const REQUEST_S = 1;

/** The latest events of the robot; none if they cannot be read. */
async function eventsOf(place: Place): Promise<readonly LogEvent[]> {
  const answer = await askDaemon(place, 'GET', '/api/log', { command: 'status' }).catch(() => undefined);
  const events = answer?.body.events;
  return Array.isArray(events) ? events : [];
}

/** Since when, by whom and why something is so, as far as the events say. */
function originOf(events: readonly LogEvent[], what: string) {
  const effect = events.findLast(event => event.what === what && event.who === undefined);
  if (effect === undefined) return undefined;
  const { seq, t, at: since, detail = {} } = effect;
  const request = events.find(
    event =>
      event.seq > seq &&
      event.who !== undefined &&
      [what, 'lock'].includes(event.what) &&
      tookEffect(event.outcome) &&
      event.t - t < REQUEST_S,
  );
  const why = String(detail.reason ?? detail.why ?? '');
  const isAsked = ['', 'asked', 'set'].includes(why);
  // What the robot did by itself has no caller, also if somebody asked for the same a moment later.
  const by = isAsked || why.startsWith('locked by ') ? request?.who : undefined;
  return { since, by, why: isAsked ? undefined : why };
}

function origin(events: readonly LogEvent[], what: string): string {
  const { since, by, why } = originOf(events, what) ?? {};
  const isNamed = by === undefined || why === `locked by ${by}`;
  return `${since ? ` since ${since}` : ''}${isNamed ? '' : ` by ${by}`}${why ? `: ${why}` : ''}`;
}

/** Since when something of the unit is so. */
function since(events: readonly LogEvent[], what: string, unit?: UnitName): string {
  const event = events.findLast(event => event.what === what && event.unit === unit);
  return event === undefined ? '' : ` since ${event.at}`;
}

const LIGHTS = {
  on: 'THE LASER IS ON',
  dark: 'the laser is dark',
  unknown: 'the laser has no pin that says whether it is dark',
  fault: 'THE LASER MAY BE ON',
} as const;

function safety(status: Status): string {
  const pushing = UNIT_LIST.filter(({ name }) => mayPush(status, name)).map(
    ({ name }) => `${name} ${status[name].torque === 'on' ? 'has' : 'may have'} torque`,
  );
  const parts = [LIGHTS[status.laser.light], ...(pushing.length > 0 ? pushing : ['no unit has torque'])];
  return `${isSafe(status) ? 'yes' : 'NO'}: ${parts.join(', ')}${status.stopped ? '; STOPPED' : ''}`;
}

function access({ access }: Status, board: Board | undefined): string {
  if (access.state === 'unavailable') return 'unavailable: the tokens cannot be read, and nobody may act';
  if (access.state === 'open')
    return access.exposed ? 'OPEN TO ALL who reach the port' : 'open to all on this machine';
  const holders = board?.tokens.map(({ name, role }) => `${name} (${role})`).join(', ');
  return `closed to everyone without a token${holders === undefined ? '' : `; tokens: ${holders || 'none'}`}`;
}

function match({ match }: Status, events: readonly LogEvent[]): string {
  const { id, phase, lock, lease, refereeSilent } = match;
  const desk =
    lease === null || lease.expired === true
      ? `no lease${refereeSilent ? ', the desk is SILENT' : ''}`
      : `lease of ${lease.holder} (${lease.by})${refereeSilent ? ', SILENT' : ''}`;
  const locked =
    lock === null ? 'not locked' : `LOCKED by ${lock.by}: ${lock.reason}${since(events, 'lock')}`;
  const now = phase === 'none' ? 'no match' : `phase ${phase} of ${id}${origin(events, 'phase')}`;
  return `${now}, ${locked}, ${desk}`;
}

/** What the match allows now to callers with the right. */
function allowed({ stopped, match: { allows } }: Status): string {
  const { modes, ...acts } = allows;
  const names = Object.entries(acts).flatMap(([name, is]) => (is === true ? [name] : []));
  const of = stopped ? names : names.filter(name => name !== 'resume');
  if (of.length === 0) return 'only stop and laser off';
  return modes.length === 0 ? of.join(', ') : `${of.join(', ')}; modes ${modes.join(', ')}`;
}

function unit(status: Status, name: UnitName, events: readonly LogEvent[]): string {
  const { mode, online, torque, gains, faults } = status[name];
  const revision = gains.revision === 0 ? 'default gains' : `gains ${gains.revision} of ${gains.savedAt}`;
  const run =
    gains.trial !== undefined ? `, trial of ${gains.trial.by}` : gains.applied ? '' : ', NOT APPLIED';
  const parts = [
    online ? 'online' : `OFFLINE${since(events, 'offline', name)}`,
    mode ?? 'mode unknown',
    `torque ${torque}`,
    revision + run,
  ];
  return [...parts, ...faults].join(', ');
}

function storage({ storage, log, match }: Status): string {
  const works = (ok: boolean) => (ok ? 'ok' : 'FAILED');
  return `gains ${works(storage.ok)}, event log ${works(log.ok)}, match ${works(match.recorded)}`;
}
