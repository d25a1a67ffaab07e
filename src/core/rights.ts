/** The rights that a token may give. */
export const RIGHTS = ['read', 'drive', 'tune', 'rule'] as const;
export type Right = (typeof RIGHTS)[number];

/**
 * What a call needs: a right; or `stop`, for what makes the robot safe and is open to everybody unless the
 * configuration says otherwise; or nothing.
 */
export type Need = Right | 'stop' | 'none';
