import { type Board, boardOf } from '../access/board.js';
import { healthLines, safetyLines } from '../console/bar/lines.js';
import { UNIT_LIST, type UnitName } from '../core/units.js';
import { isStatus, type Status } from '../schemas/status.js';
import { columns } from './arguments.js';
import type { Said } from './command.js';
import { boardStatus, type Place, refusalOf } from './place.js';

/** `trunnion status`: what the robot's daemon shows, and what is wrong. */
export async function statusCommand(place: Place): Promise<Said> {
  const answer = await boardStatus(place, 'status');
  const { body } = answer;
  if (!isStatus(body)) return refusalOf(answer);
  const wrong = wrongIn(body);
  return {
    text: statusText(body, boardOf(body)),
    exitCode: wrong.length === 0 ? 0 : 1,
    json: { safe: isSafe(body), wrong, ...body },
    isReport: true,
  };
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
export function statusText(status: Status, board: Board | undefined): string {
  const wrong = wrongIn(status);
  return columns([
    ['robot', robot(status, board)],
    ['safe', safety(status)],
    ['access', access(status, board)],
    ['match', match(status)],
    ['allowed', allowed(status)],
    ...UNIT_LIST.map(({ name }) => [name, unit(status, name)] as const),
    ['storage', storage(status)],
    ...(wrong.length === 0 ? ['nothing'] : wrong).map(
      (one, index) => [index === 0 ? 'wrong' : '', one] as const,
    ),
  ]);
}

function robot({ version, simulated, uptimeS }: Status, board: Board | undefined): string {
  const hours = Math.floor(uptimeS / 3600);
  const up = `${hours > 0 ? `${hours} h ` : ''}${Math.floor((uptimeS % 3600) / 60)} min`;
  const port = board === undefined ? '' : `, port ${board.port}`;
  return `${simulated ? 'SIMULATED robot' : 'robot'}, version ${version}, up ${up}${port}`;
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

function match({ match: { phase, lock, lease, refereeSilent } }: Status): string {
  const desk =
    lease === null ? 'no lease' : `lease of ${lease.holder} (${lease.by})${refereeSilent ? ', SILENT' : ''}`;
  const locked = lock === null ? 'not locked' : `LOCKED by ${lock.by}: ${lock.reason}`;
  return `${phase === 'none' ? 'no match' : `phase ${phase}`}, ${locked}, ${desk}`;
}

/** What the match allows now to callers with the right. */
function allowed({ stopped, match: { allows } }: Status): string {
  const { modes, ...acts } = allows;
  const names = Object.entries(acts).flatMap(([name, is]) => (is === true ? [name] : []));
  const of = stopped ? names : names.filter(name => name !== 'resume');
  if (of.length === 0) return 'only stop and laser off';
  return modes.length === 0 ? of.join(', ') : `${of.join(', ')}; modes ${modes.join(', ')}`;
}

function unit(status: Status, name: UnitName): string {
  const { mode, online, torque, gains, faults } = status[name];
  const revision = gains.revision === 0 ? 'default gains' : `gains ${gains.revision} of ${gains.savedAt}`;
  const run =
    gains.trial !== undefined ? `, trial of ${gains.trial.by}` : gains.applied ? '' : ', NOT APPLIED';
  const parts = [online ? 'online' : 'OFFLINE', mode ?? 'mode unknown', `torque ${torque}`, revision + run];
  return [...parts, ...faults].join(', ');
}

function storage({ storage, log, match }: Status): string {
  const works = (ok: boolean) => (ok ? 'ok' : 'FAILED');
  return `gains ${works(storage.ok)}, event log ${works(log.ok)}, match ${works(match.recorded)}`;
}
