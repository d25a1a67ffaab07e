/** The rights that a token may give. */
export const RIGHTS = ['read', 'drive', 'tune', 'rule'] as const;
export type Right = (typeof RIGHTS)[number];

/**
 * The right that a call needs. `stop`: the call makes the robot safer, and needs no right unless the configuration says so.
 */
export type Need = Right | 'stop' | 'none';

/** A referee cannot light the laser. An operator cannot unlock. */
export const ROLES = {
  spectator: ['read'],
  operator: ['read', 'drive', 'tune'],
  referee: ['read', 'rule'],
} as const satisfies Readonly<Record<string, readonly Right[]>>;

export type Role = keyof typeof ROLES;

export const ROLE_NAMES = ['referee', 'operator', 'spectator'] as const satisfies readonly Role[];

export function isRole(text: unknown): text is Role {
  return typeof text === 'string' && Object.hasOwn(ROLES, text);
}
