import { type ErrorCode, type ErrorContext, isRobotError, RobotError } from '../core/errors.js';
import { array, count, growing, named, type TypeOf, text } from '../core/schema.js';

/** One fault of a request body; the JSON pointer names the member at fault or missing. */
const fault = growing({ pointer: text(), detail: text() });

export type Fault = TypeOf<typeof fault>;

interface Presentation {
  readonly status: number;
  readonly title: string;
  readonly detail: string | ((context: ErrorContext) => string);
  readonly retryAfterS?: number;
}

const unitOf = (context: ErrorContext) =>
  typeof context.unit === 'string' ? `The ${context.unit} controller` : 'A controller';

const cureOf = (context: ErrorContext) => (typeof context.cure === 'string' ? ` ${context.cure}` : '');

function unreachable(title: string, detail: string): Presentation {
  return {
    status: 503,
    title,
    detail: context => `${unitOf(context)} ${detail}${cureOf(context)}`,
    retryAfterS: 1,
  };
}

const WRITING = ['write', 'sync', 'create', 'rename', 'close'];

/** What a caller is told of each code. Nothing else of an error leaves the daemon. */
export const PROBLEMS: Readonly<Record<ErrorCode, Presentation>> = {
  nack: unreachable('No answer', 'does not answer on the I2C bus. Check its power and cable.'),
  'bus-io': unreachable('Bus error', 'broke off on the I2C bus. Check the cable and the pull-ups.'),
  'bus-timeout': unreachable(
    'Bus timeout',
    'holds the I2C bus. Check the cable; reset the controller if it stays.',
  ),
  'arbitration-lost': unreachable('Bus disturbed', 'lost the I2C bus to a disturbance. Try again.'),
  'bus-unavailable': unreachable('No I2C bus', 'cannot be reached: there is no usable I2C bus.'),
  'bus-failed': unreachable('Bus error', 'cannot be reached: the I2C bus failed.'),
  'bus-closed': unreachable('Shutting down', 'is out of reach: the daemon is shutting down.'),
  deadline: unreachable('Bus too slow', 'did not answer in time: the I2C bus is stuck.'),
  'bus-busy': unreachable('Bus too slow', 'could not be asked in time: the I2C bus is busy or stuck.'),
  'bad-frame': unreachable('Corrupted answer', 'answers with wrong checksums or values. Check the cable.'),
  'wrong-identity': {
    status: 503,
    title: 'Wrong controller',
    detail: context =>
      `${unitOf(context)} is not the right one: its ${String(context.field)} is ${String(context.found)}, ` +
      `not ${String(context.expected)}. Check its address and firmware.`,
  },
  'unit-offline': unreachable('Controller offline', 'is offline. Status tells why.'),
  'unit-busy': unreachable('Controller busy', 'has too many requests waiting. Try again.'),
  'not-confirmed': unreachable('Not confirmed', 'did not take it on: reading back gave something else.'),
  'bad-field': {
    status: 400,
    title: 'Value out of range',
    detail: 'A value cannot be sent to the controller.',
  },
  stopped: { status: 409, title: 'Stopped', detail: 'The robot is stopped. POST /api/resume releases it.' },
  'wrong-mode': {
    status: 409,
    title: 'Wrong mode',
    detail: context =>
      `Excitation is chosen in debug mode; the ${String(context.unit)} is in ${String(context.mode)}.`,
  },
  closing: { status: 503, title: 'Shutting down', detail: 'The daemon is shutting down.', retryAfterS: 1 },
  'laser-unavailable': {
    status: 503,
    title: 'No laser',
    detail: context => `There is no laser pin: ${String(context.missing)}.${cureOf(context)}`,
  },
  'pin-failed': {
    status: 503,
    title: 'Laser pin failed',
    detail: ({ missing, cure }) =>
      typeof missing === 'string'
        ? `A pin of the laser cannot be used: ${missing}. ${String(cure)}`
        : 'The laser pin does not obey. Cut the laser supply and check its wiring.',
    retryAfterS: 1,
  },
  'interlock-open': {
    status: 409,
    title: 'Interlock open',
    detail: 'The interlock contact is open; the laser stays dark until it is closed.',
  },
  'storage-failed': {
    status: 503,
    title: 'Storage failed',
    detail: context =>
      WRITING.includes(String(context.operation))
        ? `The gains could not be kept on disk, so nothing was changed.${cureOf(context)}`
        : `The gains cannot be read from the disk.${cureOf(context)}`,
    retryAfterS: 5,
  },
  'state-in-use': {
    status: 503,
    title: 'State folder in use',
    detail: 'Another process uses the state folder.',
  },
  'unknown-revision': {
    status: 404,
    title: 'Unknown revision',
    detail: context => `There is no revision ${String(context.revision)} of these gains. History lists them.`,
  },
  'addon-missing': {
    status: 503,
    title: 'Addon missing',
    detail: context => `A native addon is not installed.${cureOf(context)}`,
  },
  'bad-config': { status: 500, title: 'Bad configuration', detail: 'The configuration is not usable.' },
  'cannot-listen': { status: 500, title: 'Cannot listen', detail: 'The port cannot be opened.' },
  'bad-json': { status: 400, title: 'Malformed JSON', detail: 'The body is not a JSON object.' },
  'bad-media-type': {
    status: 415,
    title: 'Unsupported media type',
    detail: 'Send the body as application/json in UTF-8.',
  },
  'body-too-large': { status: 413, title: 'Body too large', detail: 'A body has at most 4096 bytes.' },
  'invalid-request': {
    status: 400,
    title: 'Invalid request',
    detail: context => {
      const faults = faultsOf(context);
      const told = faults.slice(0, 3).map(fault => `${fault.pointer || 'the body'} ${fault.detail}`);
      return `${told.join('; ')}${faults.length > 3 ? `; and ${faults.length - 3} more` : ''}.`;
    },
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    detail: context => `There is nothing at this path.${cureOf(context) || ' See /api/openapi.json.'}`,
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    detail: context => `This path answers ${String(context.allow)}.`,
  },
  'cross-site': {
    status: 403,
    title: 'Cross-site request',
    detail: "Requests from another site's page are refused.",
  },
  'unknown-host': {
    status: 421,
    title: 'Unknown host',
    detail: 'This name is not mine. Use the address, or add the name to http.allowedHosts.',
  },
  'caller-gone': { status: 400, title: 'Caller gone', detail: 'The caller gave up, so nothing was done.' },
  'too-many-streams': {
    status: 503,
    title: 'Too many streams',
    detail: 'All event streams are taken. Close a console page.',
    retryAfterS: 5,
  },
  'bad-http': { status: 400, title: 'Malformed request', detail: 'This is not HTTP as I know it.' },
  'request-timeout': { status: 408, title: 'Request timeout', detail: 'The request came too slowly.' },
  'headers-too-large': {
    status: 431,
    title: 'Headers too large',
    detail: 'The request headers are too large.',
  },
  internal: {
    status: 500,
    title: 'Internal error',
    detail: 'Something went wrong here. The log tells what.',
  },
};

/** RFC 9457, with our code and, where a body is at fault, every fault in it. */
export const problem = named(
  'Problem',
  growing(
    {
      type: text(),
      title: text(),
      status: count(),
      detail: text('For people: what is wrong, and what to do about it.'),
      code: text(),
    },
    { unit: text(), errors: array(fault, 'Every fault of the body.') },
  ),
);

export type Problem = TypeOf<typeof problem>;

export function asRobotError(error: unknown): RobotError {
  return isRobotError(error) ? error : new RobotError('internal', {}, { cause: error });
}

export function problemOf(error: RobotError): { problem: Problem; headers: Record<string, string> } {
  const { code, context } = error;
  const { status, title, detail, retryAfterS } = PROBLEMS[code];
  const faults = faultsOf(context);
  return {
    problem: {
      type: `urn:trunnion:problem:${code}`,
      title,
      status,
      detail: typeof detail === 'string' ? detail : detail(context),
      code,
      ...(typeof context.unit === 'string' && { unit: context.unit }),
      ...(faults.length > 0 && { errors: faults }),
    },
    headers: {
      ...(retryAfterS !== undefined && { 'Retry-After': String(retryAfterS) }),
      ...(typeof context.allow === 'string' && { Allow: context.allow }),
    },
  };
}

function faultsOf(context: ErrorContext): readonly Fault[] {
  const { errors } = context;
  return Array.isArray(errors) ? errors : [];
}
