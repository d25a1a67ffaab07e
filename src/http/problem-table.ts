import type { ContextOf, ErrorCode } from '../core/errors.js';
import { MOST_PROFILES } from '../schemas/profile.js';
import type { Problem } from './problems.js';

type Detail<Context> = string | ((context: Context) => string);

interface Presentation<Context> {
  readonly status: number;
  readonly title: string;
  readonly detail: Detail<Context>;
  readonly retryAfterS?: number;
  /** Further members that the document shows. */
  readonly members?: (context: Context) => Partial<Problem>;
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

/** The answer to each code. Nothing else of an error leaves the daemon. */
export const PROBLEMS: { readonly [Code in ErrorCode]: Presentation<ContextOf<Code>> } = {
  nack: unreachable('No answer', 'does not answer on the I2C bus. Check its power and cable.'),
  'bus-io': unreachable('Bus error', 'broke off on the I2C bus. Check the cable and the pull-ups.'),
  'bus-timeout': unreachable(
    'Bus timeout',
    'holds the I2C bus. Check the cable; reset the controller if it stays.',
  ),
  'arbitration-lost': unreachable('Bus disturbed', 'lost the I2C bus to a disturbance. Try again.'),
  'bus-unavailable': unreachable('No I2C bus', 'cannot be reached: there is no usable I2C bus.'),
  'bus-in-use': unreachable('I2C bus in use', 'cannot be reached: another process has the I2C bus.'),
  'bus-failed': unreachable('Bus error', 'cannot be reached: the I2C bus failed.'),
  'bus-closed': unreachable('Shutting down', 'is out of reach: the daemon is shutting down.'),
  deadline: unreachable('Bus too slow', 'did not answer in time: the I2C bus is stuck.'),
  'bus-busy': unreachable('Bus too slow', 'could not be asked in time: the I2C bus is busy or stuck.'),
  'bad-frame': unreachable('Corrupted answer', 'answers with wrong checksums or values. Check the cable.'),
  'bad-field': answer(400, 'Value out of range', 'A value cannot be sent to the controller.'),
  'wrong-identity': answer(
    503,
    'Wrong controller',
    context =>
      `${controller(context)} is not the right one: its ${context.field} is ${context.found}, ` +
      `not ${context.expected}. Check its address and firmware.`,
  ),
  'unit-offline': unreachable('Controller offline', 'is offline. Status says why.'),
  'unit-busy': unreachable('Controller busy', 'has too many requests waiting. Try again.'),
  'not-confirmed': answer(
    503,
    'Not confirmed',
    context => {
      if (context.units !== undefined)
        return `The robot is stopped, but not confirmed by: ${context.units.join(', ')}. Motors may push. Ask again.`;
      return context.ended
        ? `It is ended, and ${controller(context).toLowerCase()} does not show the saved gains yet: the daemon goes on trying.`
        : `${controller(context)} did not take it on: reading back gave something else.`;
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
      `Excitation is chosen in debug mode; the ${unit} is in ${mode ?? 'a mode that is not known'}.`,
  ),
  'trial-ended': answer(
    409,
    'Trial ended',
    'The trial has ended, or was ended while it began, and the saved gains run. Without its id, another one begins.',
  ),
  'silence-too-long': answer(
    409,
    'Host silence too long',
    'Gains are tried only where supervision.hostSilenceMs is from 1 to 2000: without the daemon they would run on for longer.',
  ),
  'trial-running': answer(
    409,
    'Trial running',
    ({ by }) => `Gains are being tried on this unit by ${by}. End the trial, or wait for its end.`,
  ),
  'tune-running': answer(
    409,
    'Tuning running',
    ({ by }) =>
      `A loop is being tuned${by === undefined ? '' : ` by ${by}`}. End the tuning, or wait for its end.`,
  ),
  closing: answer(503, 'Shutting down', 'The daemon is shutting down.', SOON),
  locked: answer(
    409,
    'Locked',
    ({ by, reason }) => `The robot is locked by ${by}: ${reason}. Whoever may rule the match unlocks it.`,
  ),
  'referee-silent': answer(
    409,
    'Referee silent',
    "Nothing is heard from the referee's desk. It has to POST /api/match/lease again and again before anything moves.",
  ),
  'wrong-phase': answer(
    409,
    'Wrong phase',
    ({ phase }) => `The phase of the match, ${phase}, does not allow this. Wait for the next.`,
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
    context => `There is no laser pin: ${context.missing}.${cure(context)}`,
  ),
  'pin-failed': answer(
    503,
    'Laser pin failed',
    context =>
      context.missing === undefined
        ? 'The laser pin does not obey. Cut the laser supply and check its wiring.'
        : `A pin of the laser cannot be used: ${context.missing}.${cure(context)}`,
    SOON,
  ),
  'interlock-open': answer(
    409,
    'Interlock open',
    'The interlock contact is open; the laser stays dark until it is closed.',
  ),
  'storage-failed': answer(
    503,
    'Storage failed',
    context => {
      if (context.mayRemain === undefined) return `It cannot be read from the disk.${cure(context)}`;
      const outcome = context.mayRemain
        ? 'and may be found in force after a restart'
        : 'so nothing was changed';
      return `It could not be kept on disk, ${outcome}.${cure(context)}`;
    },
    LATER,
  ),
  'not-kept': answer(
    503,
    'Not on the disk',
    context =>
      `It stands now, but it is not on the disk: after a restart it may be as before.${cure(context)}`,
    LATER,
  ),
  'state-in-use': answer(503, 'State folder in use', 'Another process uses the state folder.'),
  'unknown-revision': answer(
    404,
    'Unknown revision',
    ({ revision }) => `There is no revision ${revision} of these gains. History lists them.`,
  ),
  'unknown-profile': answer(
    404,
    'Unknown profile',
    ({ name }) => `No profile of this unit is called ${name}. The list of profiles has them.`,
  ),
  'profile-exists': answer(
    409,
    'Profile exists',
    ({ name }) =>
      `A profile of this unit is called ${name} already. Choose another name, or send "replace": true.`,
  ),
  'too-many-profiles': answer(
    409,
    'Too many profiles',
    `A unit has at most ${MOST_PROFILES} profiles. Take one away first.`,
  ),
  'changed-meanwhile': answer(
    409,
    'Changed meanwhile',
    ({ unit, revision }) =>
      `The gains of the ${unit} were changed meanwhile: revision ${revision} is in force. Look at the ` +
      `difference, then send yours with baseRevision=${revision}.`,
    { members: ({ revision, difference }) => ({ revision, difference }) },
  ),
  'addon-missing': answer(
    503,
    'Addon missing',
    context => `A native addon is not installed.${cure(context)}`,
  ),
  'bad-config': answer(500, 'Bad configuration', 'The configuration is not usable.'),
  'cannot-listen': answer(500, 'Cannot listen', 'The port cannot be opened.'),
  'token-required': answer(
    401,
    'Token required',
    'This robot asks for a token: send "Authorization: Bearer TOKEN". On the page, log in.',
    ASK_FOR_TOKEN,
  ),
  'token-unknown': answer(
    401,
    'Unknown token',
    'This token is not known, or not any more. "sudo trunnion token list" shows which there are.',
    ASK_FOR_TOKEN,
  ),
  'not-allowed': answer(
    403,
    'Not allowed',
    ({ right }) => `This token does not give the right "${right}". Use one that does.`,
  ),
  'access-unavailable': answer(
    503,
    'Access unavailable',
    context =>
      context.lastHolds
        ? `The file of tokens cannot be read; the last list that was read holds.${cure(context)}`
        : `The file of tokens cannot be used, so nobody may do more than look, stop and darken the laser.${cure(context)}`,
    LATER,
  ),
  'bad-json': answer(400, 'Malformed JSON', 'The body is not a JSON object.'),
  'bad-media-type': answer(
    415,
    'Unsupported media type',
    'Send the body as application/json, in UTF-8 and not compressed.',
  ),
  'body-too-large': answer(413, 'Body too large', 'A body has at most 4096 bytes.'),
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
    context => context.cure ?? 'There is nothing at this path. See /api/openapi.json.',
  ),
  'method-not-allowed': answer(405, 'Method not allowed', ({ allow }) => `This path answers ${allow}.`, {
    headers: ({ allow }) => ({ Allow: allow }),
  }),
  'cross-site': answer(403, 'Cross-site request', "Requests from another site's page are refused."),
  'unknown-host': answer(
    421,
    'Unknown host',
    'This name is not mine. Use the address, or add the name to http.allowedHosts.',
  ),
  'caller-gone': answer(400, 'Caller gone', 'The caller gave up, so nothing was done.'),
  'too-many-streams': answer(
    503,
    'Too many streams',
    'All event streams are taken. Close a console page.',
    LATER,
  ),
  'bad-http': answer(400, 'Malformed request', 'This is not HTTP as I know it.'),
  'request-timeout': answer(408, 'Request timeout', 'The request came too slowly.'),
  'headers-too-large': answer(431, 'Headers too large', 'The request headers are too large.'),
  internal: answer(500, 'Internal error', 'Something went wrong here. The log says what.'),
};
