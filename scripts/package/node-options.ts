/**
 * How the package starts Node. Room for new objects may grow to three times 8 MiB under a flood, where Node would let it
 * grow to 48: less would be collected so often that a tenth of the time went into it, more would make the daemon big.
 */
export const NODE_OPTIONS = ['--max-semi-space-size=8'] as const;
