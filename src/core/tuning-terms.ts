/** What a tuning may do, as the daemon does it and the page says before. */

export const STYLES = ['gentle', 'normal', 'brisk'] as const;
export type Style = (typeof STYLES)[number];

/** The wave of a tuning has this part of the loop's largest amplitude. */
export const TUNING_PART = 0.3;
export const LONGEST_TUNING_S = 45;
