export const STYLES = ['gentle', 'normal', 'brisk'] as const;
export type Style = (typeof STYLES)[number];

/** The excitation of a tuning has this part of the loop's largest amplitude. */
export const TUNING_PART = 0.3;
export const LONGEST_TUNING_S = 45;
/** A loop of the simulated robot takes about this many periods of its excitation. */
export const USUAL_TUNING_PERIODS = 7;
