export const STYLES = ['gentle', 'normal', 'brisk'] as const;
export type Style = (typeof STYLES)[number];

/** The excitation of a tuning has this part of the loop's largest amplitude. */
export const TUNING_PART = 0.3;
export const LONGEST_TUNING_S = 45;
