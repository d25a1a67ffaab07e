import type { ContextOf, ErrorCode, Fault, GainsDifference } from '../core/errors.js';
import { MOST_PROFILES } from '../schemas/profile.js';

type Detail<Context> = string | ((context: Context) => string);

/** What a problem document may tell a program besides its code and unit. */
interface Members {
  readonly units?: readonly string[];
  readonly errors?: readonly Fault[];
  readonly revision?: number;
  readonly difference?: Readonly<Record<string, GainsDifference>>;
}

interface Presentation<Context> {
  readonly status: number;
  readonly title: string;
  readonly detail: Detail<Context>;
  readonly retryAfterS?: number;
  readonly members?: (context: Context) => Members;
  readonly headers?: (context: Context) => Readonly<Record<string, string>>;
}

function answer<Context>(
  status: number,
  title: string,
  detail: Detail<Context>,
  more?: Pick<Presentation<Context>, 'retryAfterS' | 'members' | 'headers'>,
): Presentation<Context> {
  return { status, title, detail, ...more };
}

interface Controller {
  readonly unit?: string;
  readonly cure?: string | undefined;
}

const SOON = { retryAfterS: 1 };
const LATER = { retryAfterS: 5 };

function unreachable(title: string, detail: string): Presentation<Controller> {
  return answer(503, title, context => `${controller(context)} ${detail}${cure(context)}`, SOON);
}

function controller({ unit }: Controller): string {
  return unit === undefined ? 'A controller' : `The ${unit} controller`;
}

function cure(context: { readonly cure?: string | undefined }): string {
  return context.cure === undefined ? '' : ` ${context.cure}`;
}

/** The header that asks a client for a token. */
const ASK_FOR_TOKEN = { headers: () => ({ 'WWW-Authenticate': 'Bearer' }) };

/** The answer to each code. HTTP callers see nothing else of an error. */
export const PROBLEMS: { readonly [Code in ErrorCode]: Presentation<ContextOf<Code>> } = {
  nack: unreachable('No answer', 'does not answer on the I2C bus. Check its power and cable.'),
  'bus-io': unreachable(
    'Bus error',
    'did not complete a transfer on the I2C bus. Check the cable and the pull-ups.',
  ),
  'bus-timeout': unreachable(
    'Bus timeout',
    'holds the I2C bus. Check the cable. If that does not help, reset the controller.',
  ),
  'arbitration-lost': unreachable(
    'Bus disturbed',
    'could not be reached because of noise on the I2C bus. Try again.',
  ),
  'bus-unavailable': unreachable(
    'No I2C bus',
    'cannot be reached: there is no usable I2C bus. Run trunnion doctor.',
  ),
  'bus-in-use': unreachable(
    'I2C bus in use',
    'cannot be reached: another process uses the I2C bus. End that process.',
  ),
  'bus-failed': unreachable('Bus error', 'cannot be reached: the I2C bus failed. Run trunnion doctor.'),
  'bus-closed': unreachable(
    'Shutting down',
    'cannot be reached: the daemon is shutting down. Try again after its restart.',
  ),
  deadline: unreachable('Bus too slow', 'did not answer in time: the I2C bus is stuck. Check the cable.'),
  'bus-busy': unreachable(
    'Bus too slow',
    'could not be reached in time: the I2C bus is busy or stuck. Try again.',
  ),
  'bad-frame': unreachable('Corrupted answer', 'sent a wrong checksum or a wrong value. Check the cable.'),
  'bad-field': answer(
    400,
    'Value out of range',
    'The controller cannot store one of the values. Send a smaller one.',
  ),
  'wrong-identity': answer(
    503,
    'Wrong controller',
    context =>
      `${controller(context)} is a different one: its ${context.field} is ${context.found} instead of ` +
      `${context.expected}. Check its address and firmware.`,
  ),
  'unit-offline': unreachable('Controller offline', 'is offline. GET /api/status says why.'),
  'unit-busy': unreachable('Controller busy', 'has too many requests waiting. Try again.'),
  'not-confirmed': answer(
    503,
    'Not confirmed',
    context => {
      if (context.units !== undefined)
        return `The stop is in force, but not confirmed by: ${context.units.join(', ')}. Motors may push. Repeat the stop.`;
      return context.ended
        ? `The trial or tuning has ended, but ${controller(context).toLowerCase()} does not run the saved gains yet. The daemon keeps trying.`
        : `${controller(context)} did not accept the change: it read back a different value. Try again.`;
    },
    { ...SOON, members: ({ units }) => (units === undefined ? {} : { units }) },
  ),
  'loop-unfit': answer(
    409,
    'Loop unfit',
    ({ loop, reason }) => `The loop ${loop} cannot be tuned: ${reason}.`,
  ),
  stopped: answer(409, 'Stopped', 'The robot is stopped. POST /api/resume releases it.'),
  'wrong-mode': answer(
    409,
    'Wrong mode',
    ({ unit, mode }) =>
      `This needs debug mode, but the mode of the ${unit} is ${mode ?? 'unknown'}. Switch it to debug first.`,
  ),
  'trial-ended': answer(
    409,
    'Trial ended',
    'The trial or tuning with this id has ended, and the saved gains run. Leave out the id to start another one.',
  ),
  'silence-too-long': answer(
    409,
    'Host silence too long',
    'Trials need a supervision.hostSilenceMs from 1 to 2000. Otherwise the gains could run too long without the daemon.',
  ),
  'trial-running': answer(
    409,
    'Trial running',
    ({ by }) => `A trial by ${by} runs on this unit. End the trial, or wait until it ends.`,
  ),
  'tune-running': answer(
    409,
    'Tuning running',
    ({ by }) =>
      `A tuning${by === undefined ? '' : ` by ${by}`} is running. End the tuning, or wait until it ends.`,
  ),
  closing: answer(503, 'Shutting down', 'The daemon is shutting down. Try again after its restart.', SOON),
  locked: answer(
    409,
    'Locked',
    ({ by, reason }) => `The robot is locked by ${by}: ${reason}. A referee can unlock it.`,
  ),
  'referee-silent': answer(
    409,
    'Referee silent',
    "The referee's desk is silent. Nothing moves until the desk repeats POST /api/match/lease.",
  ),
  'wrong-phase': answer(
    409,
    'Wrong phase',
    ({ phase }) => `The phase ${phase} of the match does not allow this. Wait for another phase.`,
  ),
  'stale-match': answer(
    409,
    'Match changed',
    ({ id, revision, phase }) =>
      `The match is ${id} at revision ${revision} in phase ${phase}. Send a higher revision. A new id needs phase pre ` +
      'or ended, or a match that is none or ended.',
  ),
  'lease-held': answer(
    409,
    'Held by another',
    ({ holder, by }) =>
      `The desk ${holder} (${by}) has the lease. Wait until it expires, or take it: POST /api/match/lease with ` +
      '"takeover": true.',
  ),
  'laser-unavailable': answer(
    503,
    'No laser',
    context => `The laser has no pin: ${context.missing}.${cure(context)}`,
  ),
  'pin-failed': answer(
    503,
    'Laser pin failed',
    context =>
      context.missing === undefined
        ? 'The laser pin does not show the level that was written. Cut the laser supply and check the wiring.'
        : `A laser pin cannot be used: ${context.missing}.${cure(context)}`,
    SOON,
  ),
  'interlock-open': answer(
    409,
    'Interlock open',
    'The interlock contact is open. Close it to switch the laser on.',
  ),
  'storage-failed': answer(
    503,
    'Storage failed',
    context => {
      if (context.mayRemain === undefined) return `A file could not be read from the disk.${cure(context)}`;
      const outcome = context.mayRemain
        ? 'but it may be found in force after a restart'
        : 'so nothing was changed';
      return `The change could not be kept on disk, ${outcome}.${cure(context)}`;
    },
    LATER,
  ),
  'not-kept': answer(
    503,
    'Not on the disk',
    context => `The change is in force, but it is not on the disk: a restart may undo it.${cure(context)}`,
    LATER,
  ),
  'state-in-use': answer(
    503,
    'State folder in use',
    'Another process uses the state folder. End that process, or choose another folder with --state.',
  ),
  'unknown-revision': answer(
    404,
    'Unknown revision',
    ({ revision }) => `These gains have no revision ${revision}. Their history lists all revisions.`,
  ),
  'unknown-profile': answer(
    404,
    'Unknown profile',
    ({ name }) => `This unit has no profile ${name}. GET its profiles to see them all.`,
  ),
  'profile-exists': answer(
    409,
    'Profile exists',
    ({ name }) => `This unit already has a profile ${name}. Choose another name, or send "replace": true.`,
  ),
  'too-many-profiles': answer(
    409,
    'Too many profiles',
    `A unit has at most ${MOST_PROFILES} profiles. Remove one first.`,
  ),
  'changed-meanwhile': answer(
    409,
    'Changed meanwhile',
    ({ unit, revision }) =>
      `Somebody else saved gains of the ${unit}: revision ${revision} is in force. Compare, then send yours ` +
      `with baseRevision=${revision}.`,
    { members: ({ revision, difference }) => ({ revision, difference }) },
  ),
  'addon-missing': answer(
    503,
    'Addon missing',
    context => `A native addon is not installed.${cure(context)}`,
  ),
  'bad-config': answer(500, 'Bad configuration', 'The configuration has errors. Run trunnion doctor.'),
  'cannot-listen': answer(500, 'Cannot listen', 'The port cannot be opened. Choose another one with --port.'),
  'token-required': answer(
    401,
    'Token required',
    'This robot needs a token: send "Authorization: Bearer TOKEN". On the page, log in.',
    ASK_FOR_TOKEN,
  ),
  'token-unknown': answer(
    401,
    'Unknown token',
    'The token is wrong or was removed. "sudo trunnion token list" shows all tokens.',
    ASK_FOR_TOKEN,
  ),
  'not-allowed': answer(
    403,
    'Not allowed',
    ({ right }) => `The token does not give the right "${right}". Use another token.`,
  ),
  'access-unavailable': answer(
    503,
    'Access unavailable',
    context =>
      context.lastHolds
        ? `The list of tokens cannot be read. The daemon uses the list that it read last.${cure(context)}`
        : `The list of tokens cannot be read. Until it can, everybody may only read, stop and switch the laser off.${cure(context)}`,
    LATER,
  ),
  'bad-json': answer(400, 'Malformed JSON', 'The body is not valid JSON. Send a JSON object.'),
  'bad-media-type': answer(
    415,
    'Unsupported media type',
    'Send the body as application/json, in UTF-8 and not compressed.',
  ),
  'body-too-large': answer(413, 'Body too large', 'The body is too large. Send at most 4096 bytes.'),
  'invalid-request': answer(
    400,
    'Invalid request',
    ({ errors }) => {
      const shown = errors.slice(0, 3).map(({ pointer, detail }) => `${pointer || 'the body'} ${detail}`);
      return `${shown.join('; ')}${errors.length > 3 ? `; and ${errors.length - 3} more` : ''}.`;
    },
    { members: ({ errors }) => ({ errors }) },
  ),
  'not-found': answer(
    404,
    'Not found',
    context => context.cure ?? 'This path does not exist. GET /api/openapi.json lists all paths.',
  ),
  'method-not-allowed': answer(
    405,
    'Method not allowed',
    ({ allow }) => `This path does not know the method. Use ${allow}.`,
    {
      headers: ({ allow }) => ({ Allow: allow }),
    },
  ),
  'cross-site': answer(
    403,
    'Cross-site request',
    "The daemon refuses requests from pages of other sites. Open the robot's own page.",
  ),
  'unknown-host': answer(
    421,
    'Unknown host',
    'The daemon does not know this host name. Use its address, or add the name to http.allowedHosts.',
  ),
  'caller-gone': answer(
    400,
    'Caller gone',
    'The connection was closed before the act, so nothing was changed. Keep it open until the answer.',
  ),
  'too-many-streams': answer(
    503,
    'Too many streams',
    'All event streams are in use. Close a page of the robot.',
    LATER,
  ),
  'bad-http': answer(
    400,
    'Malformed request',
    'The bytes are not a valid HTTP/1.1 request. Check the client.',
  ),
  'request-timeout': answer(
    408,
    'Request timeout',
    'The request arrived too slowly, so nothing was changed. Send it again.',
  ),
  'headers-too-large': answer(
    431,
    'Headers too large',
    'The headers are too large. Send at most 8192 bytes.',
  ),
  internal: answer(500, 'Internal error', 'The daemon has a defect. Its log says which.'),
};
