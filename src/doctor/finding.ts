import { errnoOf, messageOf } from '../core/errors.js';
import { isObject } from '../core/json.js';

/** The result of one check. `unknown` is what could not be looked at, and no fault. */
export interface Finding {
  readonly check: string;
  readonly ok: 'fine' | 'wrong' | 'unknown';
  readonly detail: string;
  /** The command or the act that cures it, or shows more. */
  readonly cure?: string;
}

export type Found = Omit<Finding, 'check'>;

export function fine(detail: string): Found {
  return { ok: 'fine', detail };
}

export function wrong(detail: string, cure: string): Found {
  return { ok: 'wrong', detail, cure };
}

export function unknown(detail: string, cure?: string): Found {
  return { ok: 'unknown', detail, cure };
}

/** The cure where only root can see more. */
export const AS_ROOT = 'sudo trunnion doctor';

/** The system's name of an error, else its message. */
export function errorCode(error: unknown): string {
  return errnoOf(error) ?? messageOf(error);
}

/** A member of parsed JSON, by its path; undefined where there is none. */
export function memberOf(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (found, name) => (isObject(found) && Object.hasOwn(found, name) ? found[name] : undefined),
    value,
  );
}
