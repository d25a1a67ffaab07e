import type { Mode } from '../core/units.js';

/** The acts that a match may forbid, beside what a stop forbids. */
export type Act =
  | { readonly kind: 'mode'; readonly mode: Mode }
  | { readonly kind: 'excite' | 'save' | 'trial' | 'light' | 'resume' };

/** The rules of a match. They are asked when a request arrives and again when its turn comes. */
export interface Permission {
  /** Throws a RobotError with the reason when the act is forbidden now. */
  require(act: Act): void;
}

export function isAllowed(permission: Permission, act: Act): boolean {
  try {
    permission.require(act);
    return true;
  } catch {
    return false;
  }
}
