import { readFileSync } from 'node:fs';
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

/** The clock of the boot. A restarted process goes on in the same time. */
export const bootClock: Clock = { ...systemClock, nowMs: sinceBootMs };

function sinceBootMs(): number {
  return Number(process.hrtime.bigint() / 1000n) / 1000;
}

function kernelBootId(): string | undefined {
  const id = valueOr(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8'), undefined);
  // systemd writes the id without dashes.
  return id?.trim().replaceAll('-', '');
}
