export const STYLES = ['gentle', 'normal', 'brisk'] as const;
export type Style = (typeof STYLES)[number];

/** The amplitude of a tuning's excitation, as a fraction of the loop's largest amplitude. */
export const TUNING_PART = 0.3;
export const LONGEST_TUNING_S = 45;
/** The number of excitation periods that a tuning of one loop usually takes on the simulated robot. */
export const USUAL_TUNING_PERIODS = 7;
