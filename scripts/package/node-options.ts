/**
 * The options with which the package starts Node. New objects get up to 24 MiB, half of Node's default, to keep the daemon
 * small. With less, a flood of requests would spend a tenth of the time on garbage collection.
 */
export const NODE_OPTIONS = ['--max-semi-space-size=8'] as const;

/**
 * Threads for kernel calls. Node's default is four. If the disk hangs, each of the eight state files may block one thread,
 * and the I2C bus needs one more to send heartbeats and latches.
 */
export const NODE_ENVIRONMENT = { UV_THREADPOOL_SIZE: '16' } as const;
