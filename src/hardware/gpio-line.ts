import { constants, existsSync } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { errnoOf, type RobotError } from '../core/errors.js';
import { pinError } from './gpio-chip.js';

/** After an export, udev changes the owner of the files a few milliseconds later. */
const ACCESS_WITHIN_MS = 1000;
const LOOK_EVERY_MS = 20;

const GIVE_ACCESS = "Give the daemon's user access: sudo usermod -aG gpio USER, and start it again.";
const CURES: Readonly<Record<string, string>> = {
  EACCES: GIVE_ACCESS,
  EPERM: GIVE_ACCESS,
  EROFS: 'Let the daemon write to /sys/class/gpio: ReadWritePaths= in its unit.',
  EBUSY:
    'Something else holds the pin (sudo cat /sys/kernel/debug/gpio says what): end it, or configure another pin.',
  EINVAL: 'Configure a pin that this board has.',
  ENOENT: 'Use a kernel with CONFIG_GPIO_SYSFS, such as those of Raspberry Pi OS.',
};

/**
 * Exports a line if it is not exported yet, and waits until its files are writable. onoff would block the event loop
 * during this wait, with up to 10,000 synchronous opens of each file. Rejects with `pin-failed`.
 */
export async function exportLine(
  root: string,
  line: number,
  files: readonly string[],
  clock: Clock,
): Promise<void> {
  const folder = join(root, `gpio${line}`);
  if (!existsSync(folder))
    await writeFile(join(root, 'export'), String(line)).catch((error: unknown) => {
      throw lineError(line, 'be exported', error);
    });
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

/** Runs `act`. Turns a failure into `pin-failed` with a text such as "GPIO line 529 cannot be read". */
export function onLine<T>(line: number, what: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw lineError(line, what, error);
  }
}

export function lineError(line: number, what: string, cause: unknown): RobotError<'pin-failed'> {
  const code = errnoOf(cause) ?? String(cause);
  const cure = CURES[code] ?? 'Look at sudo cat /sys/kernel/debug/gpio, and at the kernel log with dmesg.';
  return pinError(`GPIO line ${line} cannot ${what}: ${code}`, cure, cause);
}
