/** What a token may give. */
export const RIGHTS = ['read', 'drive', 'tune', 'rule'] as const;
export type Right = (typeof RIGHTS)[number];

/**
 * What a call asks of its caller: a right; `stop`, for what makes the robot safe, which everybody may unless the
 * configuration says otherwise; or nothing.
 */
export type Need = Right | 'stop' | 'none';
