import { readFileSync } from 'node:fs';

/** The run of the operating system that this process is part of: what is kept in its terms outlives the process only. */
export interface Boot {
  /** Undefined where the system does not say: then every start of the process counts as a new one. */
  readonly id: string | undefined;
  /** Milliseconds on a clock that every process of this boot reads alike, and that nobody sets. */
  nowMs(): number;
}

/** The service's sandbox hides /proc, so its unit file passes the id on. */
export function systemBoot(environment: Readonly<Record<string, string | undefined>>): Boot {
  return {
    id: environment.TRUNNION_BOOT_ID ?? kernelBootId(),
    nowMs: () => Number(process.hrtime.bigint() / 1000n) / 1000,
  };
}

function kernelBootId(): string | undefined {
  try {
    // Without dashes, as systemd writes it.
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().replaceAll('-', '');
  } catch {
    return undefined;
  }
}
