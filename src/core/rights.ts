/** The rights that a token may give. */
export const RIGHTS = ['read', 'drive', 'tune', 'rule'] as const;
export type Right = (typeof RIGHTS)[number];

/**
 * The right that a call needs. `stop`: the call makes the robot safer, and needs no right unless the configuration says so.
 */
export type Need = Right | 'stop' | 'none';
