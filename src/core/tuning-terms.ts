/** The terms of a tuning, used by the daemon and shown by the page before one begins. */

export const STYLES = ['gentle', 'normal', 'brisk'] as const;
export type Style = (typeof STYLES)[number];

/** The wave of a tuning has this part of the loop's largest amplitude. */
export const TUNING_PART = 0.3;
export const LONGEST_TUNING_S = 45;
