import type { ContextOf, ErrorCode } from '../core/errors.js';
import { MOST_PROFILES } from '../schemas/profile.js';

interface Presentation<Context> {
  readonly status: number;
  readonly title: string;
  readonly retryAfterS?: number;
  /** The members of the context that programs may see, besides the unit. */
  readonly shown?: readonly Extract<keyof Context, 'units' | 'errors' | 'revision' | 'difference'>[];
  readonly headers?: (context: Context) => Readonly<Record<string, string>>;
}

const ASK_FOR_TOKEN = () => ({ 'WWW-Authenticate': 'Bearer' });

type Table = { readonly [Code in ErrorCode]: Presentation<ContextOf<Code>> };

const BUS = {
  nack: { status: 503, title: 'No answer', retryAfterS: 1 },
  'bus-io': { status: 503, title: 'Bus error', retryAfterS: 1 },
  'bus-timeout': { status: 503, title: 'Bus timeout', retryAfterS: 1 },
  'arbitration-lost': { status: 503, title: 'Bus disturbed', retryAfterS: 1 },
  'bus-unavailable': { status: 503, title: 'No I2C bus', retryAfterS: 1 },
  'bus-in-use': { status: 503, title: 'I2C bus in use', retryAfterS: 1 },
  'bus-failed': { status: 503, title: 'Bus error', retryAfterS: 1 },
  'bus-closed': { status: 503, title: 'Shutting down', retryAfterS: 1 },
  deadline: { status: 503, title: 'Bus too slow', retryAfterS: 1 },
  'bus-busy': { status: 503, title: 'Bus too slow', retryAfterS: 1 },
  'bad-frame': { status: 503, title: 'Corrupted answer', retryAfterS: 1 },
} satisfies Partial<Table>;

/** The HTTP answer to each code. The words are in TEXTS. HTTP callers see nothing else of an error. */
export const PROBLEMS: Table = {
  ...BUS,
  'bad-field': { status: 400, title: 'Value out of range' },
  'wrong-identity': { status: 503, title: 'Wrong controller' },
  'unit-offline': { status: 503, title: 'Controller offline', retryAfterS: 1 },
  'unit-busy': { status: 503, title: 'Controller busy', retryAfterS: 1 },
  'not-confirmed': { status: 503, title: 'Not confirmed', retryAfterS: 1, shown: ['units'] },
  'loop-unfit': { status: 409, title: 'Loop unfit' },
  stopped: { status: 409, title: 'Stopped' },
  'wrong-mode': { status: 409, title: 'Wrong mode' },
  'no-torque': { status: 409, title: 'No torque' },
  'trial-ended': { status: 409, title: 'Trial ended' },
  'silence-too-long': { status: 409, title: 'Host silence too long' },
  'trial-running': { status: 409, title: 'Trial running' },
  'tune-running': { status: 409, title: 'Tuning running' },
  'too-late': { status: 409, title: 'Too late' },
  driven: { status: 409, title: 'Driven by another' },
  overtaken: { status: 409, title: 'Overtaken' },
  'not-drivable': { status: 409, title: 'Cannot be driven' },
  closing: { status: 503, title: 'Shutting down', retryAfterS: 1 },
  locked: { status: 409, title: 'Locked' },
  'referee-silent': { status: 409, title: 'Referee silent' },
  'wrong-phase': { status: 409, title: 'Wrong phase' },
  'stale-match': { status: 409, title: 'Match changed' },
  'not-ready': { status: 409, title: 'Not ready' },
  'lock-changed': { status: 409, title: 'Lock changed' },
  'lease-held': { status: 409, title: 'Held by another' },
  'laser-unavailable': { status: 503, title: 'No laser' },
  'pin-failed': { status: 503, title: 'Laser pin failed', retryAfterS: 1 },
  'interlock-open': { status: 409, title: 'Interlock open' },
  'storage-failed': { status: 503, title: 'Storage failed', retryAfterS: 5 },
  'not-kept': { status: 503, title: 'Not on the disk', retryAfterS: 5 },
  'state-in-use': { status: 503, title: 'State folder in use' },
  'unknown-revision': { status: 404, title: 'Unknown revision' },
  'unknown-profile': { status: 404, title: 'Unknown profile' },
  'profile-exists': { status: 409, title: 'Profile exists' },
  'too-many-profiles': { status: 409, title: 'Too many profiles' },
  'changed-meanwhile': { status: 409, title: 'Changed meanwhile', shown: ['revision', 'difference'] },
  'addon-missing': { status: 503, title: 'Addon missing' },
  'bad-config': { status: 500, title: 'Bad configuration' },
  'cannot-listen': { status: 500, title: 'Cannot listen' },
  'token-required': { status: 401, title: 'Token required', headers: ASK_FOR_TOKEN },
  'token-unknown': { status: 401, title: 'Unknown token', headers: ASK_FOR_TOKEN },
  'not-allowed': { status: 403, title: 'Not allowed' },
  'access-unavailable': { status: 503, title: 'Access unavailable', retryAfterS: 5 },
  'bad-json': { status: 400, title: 'Malformed JSON' },
  'bad-media-type': { status: 415, title: 'Unsupported media type' },
  'body-too-large': { status: 413, title: 'Body too large' },
  'invalid-request': { status: 400, title: 'Invalid request', shown: ['errors'] },
  'unknown-head': { status: 404, title: 'Unknown head' },
  'not-found': { status: 404, title: 'Not found' },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    headers: ({ allow }) => ({ Allow: allow }),
  },
  'cross-site': { status: 403, title: 'Cross-site request' },
  'unknown-host': { status: 421, title: 'Unknown host' },
  'caller-gone': { status: 400, title: 'Caller gone' },
  'too-many-streams': { status: 503, title: 'Too many streams', retryAfterS: 5 },
  'bad-http': { status: 400, title: 'Malformed request' },
  'unknown-coding': { status: 501, title: 'Unknown transfer coding' },
  'request-timeout': { status: 408, title: 'Request timeout' },
  'headers-too-large': { status: 431, title: 'Headers too large' },
  internal: { status: 500, title: 'Internal error' },
};

export function isCode(code: string): code is ErrorCode {
  return code in PROBLEMS;
}

/** The problems of acts that a lock, a silent referee or the phase may forbid. */
export const MATCH_PROBLEMS: readonly ErrorCode[] = ['locked', 'referee-silent', 'wrong-phase'];
export const PIN_PROBLEMS: readonly ErrorCode[] = ['pin-failed', 'laser-unavailable'];
export const STOP_PROBLEMS: readonly ErrorCode[] = ['not-confirmed', ...PIN_PROBLEMS];
const EFFECTIVE: readonly string[] = ['done', 'not-kept', ...STOP_PROBLEMS];
/** Whether an act with this outcome may have taken effect. Some that fail do, such as a lock that the disk refused. */
export function tookEffect(outcome = ''): boolean {
  return EFFECTIVE.includes(outcome);
}
/** The problems of acts on trial gains. */
export const TRIAL_PROBLEMS: readonly ErrorCode[] = [
  ...MATCH_PROBLEMS,
  'trial-running',
  'trial-ended',
  'silence-too-long',
  'stopped',
  'too-late',
  'closing',
  'storage-failed',
];
/** The problems of a request that needs a controller. */
export const CONTROLLER_PROBLEMS: readonly ErrorCode[] = [
  'unit-offline',
  'unit-busy',
  'not-confirmed',
  ...Object.keys(BUS).filter(isCode),
];
/** The problems of acts that may move a unit. */
export const MOTION_PROBLEMS: readonly ErrorCode[] = [
  ...MATCH_PROBLEMS,
  'stopped',
  'closing',
  ...CONTROLLER_PROBLEMS,
];
/** The problems of every save. */
export const SAVE_PROBLEMS: readonly ErrorCode[] = [
  ...MATCH_PROBLEMS,
  ...CONTROLLER_PROBLEMS,
  'storage-failed',
  'changed-meanwhile',
];

type Text<Context> = string | ((context: Context) => string);

interface Controller {
  readonly unit?: string;
}

function unreachable(text: string): Text<Controller> {
  return context => `${controller(context)} ${text}`;
}

function controller({ unit }: Controller): string {
  return unit === undefined ? 'A controller' : `The ${unit} controller`;
}

/** Texts for people: what happened, then what to do. The cure in the context is appended. */
export const TEXTS: { readonly [Code in ErrorCode]: Text<ContextOf<Code>> } = {
  nack: unreachable('does not answer on the I2C bus. Check its power and cable.'),
  'bus-io': unreachable('did not complete a transfer on the I2C bus. Check the cable and the pull-ups.'),
  'bus-timeout': unreachable('holds the I2C bus. Check the cable, then reset the controller.'),
  'arbitration-lost': unreachable('could not be reached because of noise on the I2C bus. Try again.'),
  'bus-unavailable': unreachable('cannot be reached: there is no usable I2C bus. Run trunnion doctor.'),
  'bus-in-use': unreachable('cannot be reached: another process uses the I2C bus. End that process.'),
  'bus-failed': unreachable('cannot be reached: the I2C bus failed. Run trunnion doctor.'),
  'bus-closed': unreachable('cannot be reached: the daemon is shutting down. Try again after its restart.'),
  deadline: unreachable('did not answer in time: the I2C bus is stuck. Check the cable.'),
  'bus-busy': unreachable('could not be reached in time: the I2C bus is busy or stuck. Try again.'),
  'bad-frame': unreachable('sent a wrong checksum or a wrong value. Check the cable.'),
  'bad-field': 'The controller cannot store one of the values. Send a smaller one.',
  'wrong-identity': context =>
    `${controller(context)} is a different one: its ${context.field} is ${context.found} instead of ` +
    `${context.expected}. Check its address and firmware.`,
  'unit-offline': unreachable('is offline. GET /api/status says why.'),
  'unit-busy': unreachable('has too many requests waiting. Try again.'),
  'not-confirmed': context => {
    if (context.units !== undefined)
      return `The stop is in force, but not confirmed by: ${context.units.join(', ')}. Motors may push. Repeat the stop.`;
    return context.ended
      ? `The trial or tuning has ended, but ${controller(context).toLowerCase()} does not run the saved gains yet. The daemon keeps trying.`
      : `${controller(context)} did not accept the change: it read back a different value. Try again.`;
  },
  'loop-unfit': ({ loop, reason }) => `The loop ${loop} cannot be tuned: ${reason}.`,
  stopped: 'The robot is stopped. POST /api/resume releases it.',
  'wrong-mode': ({ unit, mode, needed = 'debug' }) =>
    `This needs ${needed} mode, but the mode of the ${unit} is ${mode ?? 'unknown'}. Switch it to ${needed} first.`,
  'no-torque': ({ unit, faults }) =>
    `${controller({ unit })} has no torque, and an excitation needs torque. ` +
    (faults.length > 0 ? `End the cause of ${faults.join(', ')}. ` : '') +
    'Try again when GET /api/status shows "torque":"on".',
  'trial-ended': 'The trial or tuning with this id has ended. Leave out the id to start another one.',
  'silence-too-long':
    'Trials need a supervision.hostSilenceMs from 100 to 2000. Otherwise the gains could run too long without the daemon.',
  'trial-running': ({ by }) => `A trial by ${by} runs on this unit. End the trial, or wait until it ends.`,
  'tune-running': ({ by }) =>
    `A tuning${by === undefined ? '' : ` by ${by}`} is running. End the tuning, or wait until it ends.`,
  'too-late':
    'The request came too late, or its time lies too far ahead, so it started and permitted nothing. Send it again with the time of now.',
  driven: ({ unit, by }) =>
    `${by} drives the ${unit}. Wait until a second after the last command, or send "takeover": true.`,
  overtaken:
    'A newer command took the place of this one, or something that ended driving came after it. If you sent no newer one, send it again.',
  'not-drivable': unreachable(
    'has firmware without the register motion, so it cannot be driven. Update its firmware.',
  ),
  closing: 'The daemon is shutting down. Try again after its restart.',
  locked: ({ by, reason }) => `The robot is locked by ${by}: ${reason}. A referee can unlock it.`,
  'referee-silent': "The referee's desk is silent. Nothing moves until it repeats POST /api/match/lease.",
  'wrong-phase': ({ phase, cure }) =>
    (phase === 'none' ? 'This needs a match.' : `The phase ${phase} of the match forbids this.`) +
    (cure === undefined ? ' Wait for another phase.' : ''),
  'stale-match': ({ id, revision, phase }) =>
    `The match is ${id} at revision ${revision} in phase ${phase}. Send a higher revision. A new id needs phase pre ` +
    'or ended, or a match that is none or ended.',
  'not-ready': ({ reason }) => reason,
  'lock-changed': ({ by, reason }) =>
    `Another lock is in force by now, by ${by}: ${reason}. Unlock again to lift that one; the status has its id.`,
  'lease-held': ({ holder, by }) =>
    `The desk ${holder} (${by}) has the lease. Wait until it expires, or take it: POST /api/match/lease with ` +
    '"takeover": true.',
  'laser-unavailable': ({ missing }) => `The laser has no pin: ${missing}.`,
  'pin-failed': ({ missing }) =>
    missing === undefined
      ? 'The laser pin does not show the level that was written. Cut the laser supply and check the wiring.'
      : `A laser pin cannot be used: ${missing}.`,
  'interlock-open': 'The interlock contact is open. Close it to switch the laser on.',
  'storage-failed': ({ mayRemain }) => {
    if (mayRemain === undefined) return 'A file could not be read from the disk.';
    if (mayRemain)
      return 'The change could not be kept on disk, but it may be found in force after a restart.';
    return 'The change could not be kept on disk, so nothing was changed.';
  },
  'not-kept': 'The change is in force, but it is not on the disk: a restart may undo it.',
  'state-in-use': 'Another process uses the state folder. End it, or choose another folder with --state.',
  'unknown-revision': ({ revision }) => `These gains have no revision ${revision}. Their history lists all.`,
  'unknown-profile': ({ name }) => `This unit has no profile ${name}. GET its profiles to see them all.`,
  'profile-exists': ({ name }) =>
    `This unit already has a profile ${name}. Choose another name, or send "replace": true.`,
  'too-many-profiles': `A unit has at most ${MOST_PROFILES} profiles. Remove one first.`,
  'changed-meanwhile': ({ unit, revision }) =>
    `Somebody else saved gains of the ${unit}: revision ${revision} is in force. Compare, then send yours ` +
    `with baseRevision=${revision}.`,
  'addon-missing': 'A native addon is not installed.',
  'bad-config': 'The configuration has errors. Run trunnion doctor.',
  'cannot-listen': ({ reason }) => `The port cannot be opened: ${reason}. Choose another one with --port.`,
  'token-required': 'This robot needs a token: send "Authorization: Bearer TOKEN". On the page, log in.',
  'token-unknown':
    'The token is wrong or was removed. On a robot, "sudo trunnion token list" shows who has one.',
  'not-allowed': ({ right }) => `The token does not give the right "${right}". Use another token.`,
  'access-unavailable': ({ lastHolds }) =>
    lastHolds
      ? 'The list of tokens cannot be read. The daemon uses the list that it read last.'
      : 'The list of tokens cannot be read. Until it can, everybody may only read, stop and switch the laser off.',
  'bad-json': 'The body is not a valid JSON object.',
  'bad-media-type': 'Send the body as application/json, in UTF-8 and not compressed.',
  'body-too-large': 'The body is too large. Send at most 4096 bytes.',
  'invalid-request': ({ errors }) => {
    const shown = errors.slice(0, 3).map(({ pointer, detail }) => `${pointer || 'the body'} ${detail}`);
    return `${shown.join('; ')}${errors.length > 3 ? `; and ${errors.length - 3} more` : ''}.`;
  },
  'unknown-head':
    'The log has no synced line with this hash: it was dropped, cut or rewritten. Leave out after to begin with the oldest line.',
  'not-found': ({ cure }) =>
    cure === undefined
      ? 'This path does not exist. On a robot, GET /api/openapi.json lists all paths.'
      : 'Not found.',
  'method-not-allowed': ({ allow }) => `This path does not know the method. Use ${allow}.`,
  'cross-site': "The daemon refuses requests from pages of other sites. Open the robot's own page.",
  'unknown-host':
    'This host name is unknown. Use the address, or add the name to allowedHosts in the configuration.',
  'caller-gone': 'The connection was closed, so nothing was changed. Keep it open until the answer.',
  'too-many-streams': 'All event streams are in use. Close a page of the robot.',
  'bad-http': 'The bytes are not a valid HTTP/1.1 request. Check the client.',
  'unknown-coding': 'The only transfer coding is chunked. Send the body without another one.',
  'request-timeout': 'The request arrived too slowly, so nothing was changed. Send it again.',
  'headers-too-large': 'The headers are too large. Send at most 8192 bytes.',
  internal: 'The daemon has a defect. Its log says which.',
};
