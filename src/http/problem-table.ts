import type { ContextOf, ErrorCode } from '../core/errors.js';

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

/** The HTTP answer to each code. The words are in problem-texts.ts. HTTP callers see nothing else of an error. */
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
  'trial-ended': { status: 409, title: 'Trial ended' },
  'silence-too-long': { status: 409, title: 'Host silence too long' },
  'trial-running': { status: 409, title: 'Trial running' },
  'tune-running': { status: 409, title: 'Tuning running' },
  closing: { status: 503, title: 'Shutting down', retryAfterS: 1 },
  locked: { status: 409, title: 'Locked' },
  'referee-silent': { status: 409, title: 'Referee silent' },
  'wrong-phase': { status: 409, title: 'Wrong phase' },
  'stale-match': { status: 409, title: 'Match changed' },
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
/** The problems of acts on trial gains. */
export const TRIAL_PROBLEMS: readonly ErrorCode[] = [
  ...MATCH_PROBLEMS,
  'trial-running',
  'trial-ended',
  'silence-too-long',
  'stopped',
  'storage-failed',
];
/** The problems of a request that needs a controller. */
export const CONTROLLER_PROBLEMS: readonly ErrorCode[] = [
  'unit-offline',
  'unit-busy',
  'not-confirmed',
  ...Object.keys(BUS).filter(isCode),
];
/** The problems of every save. */
export const SAVE_PROBLEMS: readonly ErrorCode[] = [
  ...MATCH_PROBLEMS,
  ...CONTROLLER_PROBLEMS,
  'storage-failed',
  'changed-meanwhile',
];
