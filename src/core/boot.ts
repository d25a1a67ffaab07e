import { readFileSync } from 'node:fs';

/**
 * One run of the operating system. What is kept in its terms is valid for later processes until the next reboot.
 */
export interface Boot {
  /**
   * The system's name for this boot. Undefined where the system gives none: then every start of the process counts as
   * another boot.
   */
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
    // The dashes are removed, since systemd writes the id without them.
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim().replaceAll('-', '');
  } catch {
    return undefined;
  }
}
