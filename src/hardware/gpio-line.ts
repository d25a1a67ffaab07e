import { constants } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { errnoOf } from '../core/errors.js';
import { pinError } from './gpio-chip.js';

/** After an export, udev hands the files over some milliseconds later. */
const ACCESS_WITHIN_MS = 1000;
const LOOK_EVERY_MS = 20;

const CURES: Readonly<Record<string, string>> = {
  EACCES: "Give the daemon's user access: sudo usermod -aG gpio USER, and start it again.",
  EPERM: "Give the daemon's user access: sudo usermod -aG gpio USER, and start it again.",
  EROFS: 'Let the daemon write to /sys/class/gpio: ReadWritePaths= in its unit.',
  EBUSY:
    'Something else holds the pin (sudo cat /sys/kernel/debug/gpio says what): end it, or configure another pin.',
  EINVAL: 'Configure a pin that this board has.',
  ENOENT: 'Use a kernel with CONFIG_GPIO_SYSFS, such as those of Raspberry Pi OS.',
};

/**
 * Exports a line, unless it is, and waits until its files may be written. Left to onoff, that wait would hold up the
 * event loop with up to 10,000 synchronous opens of each file. Throws `pin-failed`.
 */
export async function exportLine(
  root: string,
  line: number,
  files: readonly string[],
  clock: Clock,
): Promise<void> {
  const folder = join(root, `gpio${line}`);
  if (!(await isThere(folder))) {
    try {
      await writeFile(join(root, 'export'), String(line));
    } catch (error) {
      throw lineError(line, 'be exported', error);
    }
  }
  const untilMs = clock.nowMs() + ACCESS_WITHIN_MS;
  for (;;) {
    try {
      for (const file of files) await access(join(folder, file), constants.R_OK | constants.W_OK);
      return;
    } catch (error) {
      if (clock.nowMs() >= untilMs) throw lineError(line, 'be written', error);
    }
    await new Promise<void>(resolve => clock.after(LOOK_EVERY_MS, resolve));
  }
}

export function lineError(line: number, what: string, cause: unknown) {
  const code = errnoOf(cause) ?? String(cause);
  const cure = CURES[code] ?? 'Look at sudo cat /sys/kernel/debug/gpio, and at the kernel log with dmesg.';
  return pinError(`GPIO line ${line} cannot ${what}: ${code}`, cure, cause);
}

async function isThere(folder: string): Promise<boolean> {
  return access(folder).then(
    () => true,
    () => false,
  );
}
