import type { Gains, Mode } from './units.js';

/** What is missing, in words for the person at the robot, without full stop. */
export interface Missing {
  readonly missing: string;
  /** The command or action that helps. */
  readonly cure: string;
}

interface BusFailure {
  /** Number of the I2C bus. */
  readonly bus?: number;
  readonly errno?: number | undefined;
  readonly cure?: string | undefined;
  /** The number of bytes requested, and the number received. */
  readonly asked?: number;
  readonly read?: number;
  readonly length?: number;
  readonly reason?: string;
}

/** One fault of a request; the JSON pointer names the member at fault or missing. */
export interface Fault {
  readonly pointer: string;
  readonly detail: string;
}

/** The gains of one loop in a save that was refused because another save came first. */
export interface GainsDifference {
  readonly sent: Gains;
  readonly inForce: Gains;
}

type Nothing = Record<never, never>;

/**
 * The code of every failure, with the members of its context. Tables over these codes say what is retried and what an HTTP
 * caller is shown. No code parses a message.
 */
interface Contexts {
  // the bus, as the kernel or the link reports it
  nack: BusFailure;
  'bus-io': BusFailure;
  'bus-timeout': BusFailure;
  'arbitration-lost': BusFailure;
  'bus-unavailable': BusFailure;
  'bus-in-use': BusFailure;
  'bus-failed': BusFailure;
  'bus-closed': BusFailure;
  deadline: Nothing;
  'bus-busy': Nothing;
  'bad-frame': {
    readonly reason?: string;
    /** The frame in hexadecimal. */
    readonly bytes?: string;
    readonly slot?: number;
  };
  'bad-field': { readonly field?: string; readonly value?: number | undefined; readonly loop?: string };
  // a motor controller
  'wrong-identity': {
    readonly field: string;
    readonly expected: number;
    readonly found: number | undefined;
  };
  'unit-offline': Nothing;
  'unit-busy': Nothing;
  /**
   * `units` are those that did not confirm a stop. `ended`: a trial or a tuning is over, but its gains or its
   * excitation may still be in the controller.
   */
  'not-confirmed': { readonly units?: readonly string[]; readonly ended?: boolean };
  'loop-unfit': { readonly loop: string; readonly reason: string };
  // the robot as a whole
  stopped: Nothing;
  /** `needed`: the mode that the act needs; debug if it is absent. */
  'wrong-mode': { readonly unit: string; readonly mode: Mode | null; readonly needed?: Mode };
  'no-torque': { readonly faults: readonly string[] };
  'trial-ended': Nothing;
  'silence-too-long': Nothing;
  'trial-running': { readonly by: string };
  'tune-running': { readonly loop?: string; readonly by?: string };
  closing: Nothing;
  // driving
  'too-late': Nothing;
  driven: { readonly by: string; readonly unit: string };
  overtaken: Nothing;
  'not-drivable': Nothing;
  // a match
  locked: { readonly by: string; readonly reason: string };
  'referee-silent': Nothing;
  'wrong-phase': { readonly phase: string; readonly cure?: string };
  /** The current match. */
  'stale-match': { readonly id: string; readonly revision: number; readonly phase: string };
  /** The desk says in words what lacks for a press. */
  'not-ready': { readonly reason: string };
  'lock-changed': { readonly by: string; readonly reason: string };
  'lease-held': { readonly holder: string; readonly by: string };
  // the laser
  'laser-unavailable': Missing;
  'pin-failed': Partial<Missing> & {
    readonly written?: string;
    readonly read?: string;
    readonly simulated?: true;
  };
  'interlock-open': Nothing;
  // storage
  'storage-failed': {
    readonly operation: string;
    readonly path: string;
    readonly errno?: string | undefined;
    readonly cure?: string;
    /**
     * True if a refused write could not be undone, so that it may be in force after a restart. False if the write was
     * undone. Absent for a failed read.
     */
    readonly mayRemain?: boolean;
  };
  /** The change is in force, but a restart may undo it. */
  'not-kept': { readonly cure?: string | undefined };
  'state-in-use': { readonly folder: string };
  'unknown-revision': { readonly unit: string; readonly revision: number };
  'unknown-profile': { readonly name: string };
  'profile-exists': { readonly name: string };
  'too-many-profiles': Nothing;
  'changed-meanwhile': {
    readonly unit: string;
    /** The revision in force. */
    readonly revision: number;
    readonly difference: Readonly<Record<string, GainsDifference>>;
  };
  // starting
  'addon-missing': Missing;
  /** `reason` has a line for each problem, for the person who wrote the configuration. */
  'bad-config': { readonly reason: string };
  'cannot-listen': { readonly host: string; readonly port: number; readonly reason: string };
  // access
  'token-required': Nothing;
  'token-unknown': Nothing;
  'not-allowed': { readonly right: string };
  'access-unavailable': {
    readonly cure?: string | undefined;
    /** A newer version wrote the file, in a format that this version cannot read. */
    readonly isNewer?: boolean;
    /** The file could not be read. */
    readonly isUnread?: boolean;
    /** The last list that was read is still in force. */
    readonly lastHolds?: boolean;
  };
  // HTTP
  'bad-json': Nothing;
  'bad-media-type': Nothing;
  'body-too-large': Nothing;
  'invalid-request': { readonly errors: readonly Fault[] };
  'unknown-head': Nothing;
  'not-found': { readonly path?: string; readonly cure?: string };
  'method-not-allowed': { readonly allow: string };
  'cross-site': { readonly origin?: string };
  'unknown-host': { readonly host: string };
  'caller-gone': Nothing;
  'too-many-streams': Nothing;
  'bad-http': { readonly header?: string };
  'unknown-coding': Nothing;
  'request-timeout': Nothing;
  'headers-too-large': Nothing;
  internal: Nothing;
}

export type ErrorCode = keyof Contexts;

/** Where on the robot a failure happened, as far as known. */
interface Place {
  readonly unit?: string;
  /** 7-bit I2C address. */
  readonly address?: number;
  /** The register's name, or its place in the address space. */
  readonly register?: string | number;
  readonly attempts?: number;
}

export type ContextOf<Code extends ErrorCode> = Place & Contexts[Code];

interface Options extends ErrorOptions {
  readonly others?: readonly RobotError[];
}

/** The context may be left out only if it has no required member. */
type Known<Code extends ErrorCode> =
  Nothing extends ContextOf<Code>
    ? [context?: ContextOf<Code>, options?: Options]
    : [context: ContextOf<Code>, options?: Options];

export class RobotError<Code extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'RobotError';
  readonly code: Code;
  readonly context: ContextOf<Code>;
  /** Further failures of the same act. */
  readonly others: readonly RobotError[];

  constructor(code: Code, ...[context, options]: Known<Code>) {
    const known = Object.entries(context ?? {}).filter(([, value]) => value !== undefined);
    super([code, ...known.map(([key, value]) => `${key}=${asText(value)}`)].join(' '), options);
    this.code = code;
    // The types allow a missing context only if it has no required member.
    this.context = (context ?? {}) as ContextOf<Code>;
    this.others = options?.others ?? [];
  }

  /** Returns this failure with a place that only a higher layer knows. */
  with(place: Place): RobotError<Code> {
    const { cause, others } = this;
    return new RobotError(this.code, { ...this.context, ...place }, { cause, others });
  }

  /** Returns this failure with further failures of the same act, without duplicates. */
  beside(others: readonly RobotError[]): RobotError<Code> {
    const all = [...this.others, ...others.flatMap(other => [other, ...other.others])];
    const byMessage = new Map(all.map(other => [other.message, other]));
    byMessage.delete(this.message);
    return new RobotError(this.code, this.context, { cause: this.cause, others: [...byMessage.values()] });
  }
}

export function isRobotError<Code extends ErrorCode = ErrorCode>(
  error: unknown,
  ...codes: readonly Code[]
): error is RobotError<Code> {
  return error instanceof RobotError && (codes.length === 0 || codes.some(code => code === error.code));
}

/** Any other error becomes `internal`: it is a defect of the daemon. */
export function asRobotError(error: unknown): RobotError {
  return isRobotError(error) ? error : new RobotError('internal', {}, { cause: error });
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The errno name, such as ENOENT; undefined if the operating system did not raise the error. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? String(error.code) : undefined;
}

const UNREADABLE: Readonly<Record<string, string>> = {
  EACCES: 'you may not read it',
  EISDIR: 'it is a folder',
  ENOENT: 'it does not exist',
  ENOTDIR: 'a part of its path is no folder',
};

/** Why a file or folder that a person named cannot be read. */
export function whyUnreadable(error: unknown): string {
  const errno = errnoOf(error);
  return UNREADABLE[errno ?? ''] ?? errno ?? messageOf(error);
}

/** An error as log fields: code, context and cause. Only a defect of the daemon has a stack. */
export function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: String(error) };
  const cause = error.cause === undefined ? {} : { cause: inWords(error.cause) };
  if (error instanceof RobotError) {
    const also = error.others.length === 0 ? {} : { also: error.others.map(inWords) };
    return { code: error.code, ...error.context, ...cause, ...also };
  }
  return { message: error.message, stack: error.stack, ...cause };
}

/**
 * The first line of the error's message and of each cause's message, joined by colons. Later lines are left
 * out: if a module is missing, Node lists every path that it searched there.
 */
function inWords(cause: unknown): string {
  const [line = ''] = messageOf(cause).split('\n');
  const deeper = cause instanceof Error && cause.cause !== undefined ? `: ${inWords(cause.cause)}` : '';
  return `${line.replace(/:$/, '')}${deeper}`;
}

function asText(value: unknown): string {
  if (Array.isArray(value)) return value.map(asText).join();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/**
 * Waits until all acts have resolved or rejected. Then rejects with the first error, which has the other
 * errors in `others`.
 */
export async function allEnded(acts: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const ends = await Promise.allSettled(acts);
  const errors: unknown[] = ends.flatMap(end => (end.status === 'rejected' ? [end.reason] : []));
  const [first, ...others] = errors;
  if (first === undefined) return;
  throw isRobotError(first) ? first.beside(others.filter(other => isRobotError(other))) : first;
}

/** What `act` returns; `otherwise` if it throws. */
export function valueOr<Value, Other>(act: () => Value, otherwise: Other): Value | Other {
  try {
    return act();
  } catch {
    return otherwise;
  }
}

/** Whether the check does not throw. */
export function passes(check: () => void): boolean {
  try {
    check();
    return true;
  } catch {
    return false;
  }
}

/** Resolves with whether the act succeeds. Never rejects. */
export function succeeds(act: Promise<unknown>): Promise<boolean> {
  return act.then(
    () => true,
    () => false,
  );
}
