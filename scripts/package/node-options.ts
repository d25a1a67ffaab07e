/**
 * How the package starts Node. Room for new objects may grow to three times 8 MiB under a flood, where Node would let it
 * grow to 48: less would be collected so often that a tenth of the time went into it, more would make the daemon big.
 */
export const NODE_OPTIONS = ['--max-semi-space-size=8'] as const;

/**
 * Threads for calls of the kernel, where Node would have four. On a disk that hangs each of the eight files of the state folder may
 * hold one, and the I2C bus needs one more: without it no heartbeat and no latch would reach a controller.
 */
export const NODE_ENVIRONMENT = { UV_THREADPOOL_SIZE: '16' } as const;
