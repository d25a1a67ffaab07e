import { readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { type Clock, systemClock } from './clock.js';
import { valueOr } from './errors.js';

/** One system boot. Its id and its times mean the same to later processes until the next reboot. */
export interface Boot {
  /** The operating system's id of this boot. If undefined, every process counts as a new boot. */
  readonly id: string | undefined;
  /** Milliseconds on a monotonic clock that all processes of this boot share. */
  nowMs(): number;
}

/** The service's sandbox hides /proc, so the service's unit file passes the id in `TRUNNION_BOOT_ID`. */
export function systemBoot(environment: Readonly<Record<string, string | undefined>>): Boot {
  return { id: environment.TRUNNION_BOOT_ID ?? kernelBootId(), nowMs: sinceBootMs };
}

/** A shorter sleep of the machine is not noticed. The uptime may have whole seconds only. */
const LEAST_SLEEP_MS = 1500;

/**
 * Returns a clock that goes on while the machine sleeps. A monotonic clock stands still then. The uptime goes on, but costs a
 * system call, so it is read once in a millisecond.
 */
export function timeOfBoot(monotonicMs: () => number, uptimeMs: () => number): () => number {
  let readMs = Number.NEGATIVE_INFINITY;
  let sleptMs = 0;
  return () => {
    const ms = monotonicMs();
    if (ms - readMs >= 1) {
      readMs = ms;
      const aheadMs = uptimeMs() - ms;
      if (aheadMs - sleptMs > LEAST_SLEEP_MS) sleptMs = aheadMs;
    }
    return ms + sleptMs;
  };
}

const sinceBootMs = timeOfBoot(
  () => Number(process.hrtime.bigint() / 1000n) / 1000,
  () => 1000 * uptime(),
);

/** The clock of the boot. A restarted process goes on in the same time. */
export const bootClock: Clock = { ...systemClock, nowMs: sinceBootMs };

function kernelBootId(): string | undefined {
  const id = valueOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'), undefined);
  // systemd writes the id without dashes.
  return id?.trim().replaceAll('-', '');
}
