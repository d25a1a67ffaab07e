import { constants, existsSync } from 'node:fs';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Clock, pause } from '../core/clock.js';
import { errnoOf, type RobotError } from '../core/errors.js';
import { pinError } from './gpio-chip.js';

/**
 * The longest wait for access to a line's files. After an export, udev changes their owner a few milliseconds
 * later.
 */
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
    await pause(clock, LOOK_EVERY_MS);
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

/** The part of onoff's `Gpio` that is used here. */
export interface NativeLine {
  readSync(): 0 | 1;
  writeSync(level: 0 | 1): void;
  direction(): string;
  edge(): string;
  activeLow(): boolean;
  watch(onEdge: () => void): void;
  /** Closes the descriptors and gives the line back to the kernel. */
  unexport(): void;
}

export type Pin = ReturnType<typeof pinOn>;

/** An open line. With `activeLow`, level 0 is `true`. Every failure is `pin-failed`. */
export function pinOn(native: NativeLine, line: number, activeLow: boolean, isLaser: boolean) {
  // The interlock's line gets another method later.
  const readSync = native.readSync.bind(native);
  const write = (on: boolean): void =>
    onLine(line, 'be written', () => native.writeSync(on !== activeLow ? 1 : 0));
  return {
    write,
    read: (): boolean => onLine(line, 'be read', () => readSync() === 1) !== activeLow,

    /** Never throws. Writes a laser's pin dark before it gives the line back, because the line may keep its level. */
    release: (): void => {
      // The line is given back even if darkening fails: opening it again is the other way to darken it.
      if (isLaser) attempted(() => write(false));
      attempted(() => native.unexport());
    },
  };
}

/** Runs `act` and ignores its failure, because the line may be gone already. */
function attempted(act: () => void): void {
  try {
    act();
  } catch {
    // Nothing else can be done with the line.
  }
}
