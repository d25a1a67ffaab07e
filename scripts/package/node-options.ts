/**
 * How the package starts Node. Room for new objects is kept at a few megabytes, where Node would let it grow to 48: the
 * daemon stays small, at the price of collecting more often when it is flooded.
 */
export const NODE_OPTIONS = ['--max-semi-space-size=2'] as const;
