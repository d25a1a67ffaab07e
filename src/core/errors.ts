/**
 * Every way in which Trunnion fails, as a closed union: who may retry, what an HTTP caller gets and what may be
 * shown are tables over these codes. Nobody parses a message.
 */
export type ErrorCode =
  // the bus, as the kernel or the link tells it
  | 'nack'
  | 'bus-io'
  | 'bus-timeout'
  | 'arbitration-lost'
  | 'bus-unavailable'
  | 'bus-failed'
  | 'bus-closed'
  | 'deadline'
  | 'bus-busy'
  | 'bad-frame'
  | 'bad-field'
  // a motor controller
  | 'wrong-identity'
  | 'unit-offline'
  | 'unit-busy'
  | 'not-confirmed'
  // the robot as a whole
  | 'stopped'
  | 'wrong-mode'
  | 'closing'
  // the laser
  | 'laser-unavailable'
  | 'pin-failed'
  | 'interlock-open'
  // storage
  | 'storage-failed'
  | 'state-in-use'
  | 'unknown-revision'
  // starting
  | 'addon-missing'
  | 'bad-config'
  | 'cannot-listen'
  // HTTP
  | 'bad-json'
  | 'bad-media-type'
  | 'body-too-large'
  | 'invalid-request'
  | 'not-found'
  | 'method-not-allowed'
  | 'cross-site'
  | 'unknown-host'
  | 'caller-gone'
  | 'too-many-streams'
  | 'bad-http'
  | 'request-timeout'
  | 'headers-too-large'
  | 'internal';

export type ErrorContext = Readonly<Record<string, unknown>>;

export class RobotError extends Error {
  override readonly name = 'RobotError';
  readonly code: ErrorCode;
  /** What the lowest layer knew: bus, address, register, attempt, cure, … */
  readonly context: ErrorContext;

  constructor(code: ErrorCode, context: ErrorContext = {}, options?: { cause?: unknown }) {
    const told = Object.entries(context).map(([key, value]) => `${key}=${String(value)}`);
    super([code, ...told].join(' '), options);
    this.code = code;
    this.context = context;
  }

  /** The same failure, with what a higher layer knows of it. */
  with(context: ErrorContext): RobotError {
    return new RobotError(this.code, { ...this.context, ...context }, { cause: this.cause });
  }
}

export function isRobotError(error: unknown, ...codes: readonly ErrorCode[]): error is RobotError {
  return error instanceof RobotError && (codes.length === 0 || codes.includes(error.code));
}

/** The system's name of an error, such as ENOENT; undefined for what the system did not say. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

/** An error as log fields: the code and what was known, with its cause in words. Only a defect has a stack to show. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const cause = error.cause === undefined ? {} : { cause: inWords(error.cause) };
  if (error instanceof RobotError) return { code: error.code, ...error.context, ...cause };
  return { message: error.message, stack: error.stack, ...cause };
}

/** Modules that cannot be loaded list every place that was tried, on lines of their own. */
function inWords(cause: unknown): string {
  const [line = ''] = (cause instanceof Error ? cause.message : String(cause)).split('\n');
  const deeper = cause instanceof Error && cause.cause !== undefined ? `: ${inWords(cause.cause)}` : '';
  return `${line.replace(/:$/, '')}${deeper}`;
}
