import { errnoOf, messageOf } from '../core/errors.js';
import { isObject } from '../core/json.js';

/** The result of one check. `unknown` means that the check could not be made; it is not a fault. */
export interface Finding {
  readonly check: string;
  readonly state: 'fine' | 'wrong' | 'unknown';
  readonly detail: string;
  /** A command or an action that cures the fault or shows more. */
  readonly cure?: string;
}

export type Found = Omit<Finding, 'check'>;

export function fine(detail: string): Found {
  return { state: 'fine', detail };
}

export function wrong(detail: string, cure: string): Found {
  return { state: 'wrong', detail, cure };
}

export function unknown(detail: string, cure?: string): Found {
  return { state: 'unknown', detail, cure };
}

/** The cure if only root can find out more. */
export const AS_ROOT = 'sudo trunnion doctor';

/** The error's code, or its message if it has none. */
export function errorCode(error: unknown): string {
  return errnoOf(error) ?? messageOf(error);
}

/** The member of an object in parsed JSON. Undefined if there is none. */
export function memberOf(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined;
}
