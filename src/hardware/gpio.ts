import { rename, writeFile } from 'node:fs/promises';
import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { headerChip, lineNumber, pinError } from './gpio-chip.js';
import { exportLine, lineError } from './gpio-line.js';
import type { OutputPin } from './ports.js';

/** What is used of the addon onoff. */
export interface GpioNative {
  readonly Gpio: new (
    line: number,
    direction: 'in' | 'low' | 'high',
    edge: 'none' | 'both',
    options: { readonly activeLow: boolean },
  ) => NativeLine;
}

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

/** A pin by its BCM number; with `activeLow`, level 0 is light or a closed contact. */
export interface PinChoice {
  readonly bcm: number;
  readonly activeLow: boolean;
}

export interface GpioOptions {
  readonly native: GpioNative;
  /** /sys/class/gpio */
  readonly root: string;
  readonly clock: Clock;
  /** The file that tells trunnion-dark line and dark level of the laser's pin; undefined where nothing runs it. */
  readonly record?: string;
}

/**
 * Opens the pin at its dark level, in one write of direction and level. Levels are raw here: the kernel's own
 * `active_low` would turn the values of a line around, but not the level that opens it. Throws `pin-failed`.
 */
export async function openLaserPin(options: GpioOptions, choice: PinChoice): Promise<LaserPin> {
  const level = choice.activeLow ? 'high' : 'low';
  const line = await ready(options, choice, ['value', 'direction', 'active_low']);
  if (options.record !== undefined) await leaveRecord(options.record, `${line} ${level}\n`);
  const native = open(line, () => new options.native.Gpio(line, level, 'none', { activeLow: false }));
  const pin = new LaserPin(native, line, choice.activeLow);
  try {
    verify(line, native, { direction: 'out', activeLow: false, level: choice.activeLow ? 1 : 0 });
    return pin;
  } catch (error) {
    pin.release();
    throw error;
  }
}

/** `onEdge` is called at every edge, and when the line is lost. Throws `pin-failed`. */
export async function openInterlockPin(
  options: GpioOptions,
  choice: PinChoice,
  onEdge: () => void,
): Promise<InterlockPin> {
  const line = await ready(options, choice, ['value', 'direction', 'active_low', 'edge']);
  const native = open(line, () => new options.native.Gpio(line, 'in', 'both', { activeLow: false }));
  const pin = new InterlockPin(native, line, choice.activeLow);
  try {
    verify(line, native, { direction: 'in', activeLow: false, edge: 'both' });
    native.watch(onEdge);
    return pin;
  } catch (error) {
    pin.release();
    throw error instanceof RobotError ? error : lineError(line, 'be watched', error);
  }
}

export class LaserPin implements OutputPin {
  readonly #native: NativeLine;
  readonly #line: number;
  readonly #activeLow: boolean;

  constructor(native: NativeLine, line: number, activeLow: boolean) {
    this.#native = native;
    this.#line = line;
    this.#activeLow = activeLow;
  }

  write(on: boolean): void {
    try {
      this.#native.writeSync(on !== this.#activeLow ? 1 : 0);
    } catch (error) {
      throw lineError(this.#line, 'be written', error);
    }
  }

  read(): boolean {
    try {
      return (this.#native.readSync() === 1) !== this.#activeLow;
    } catch (error) {
      throw lineError(this.#line, 'be read', error);
    }
  }

  /** Dark first, for the level of a line may stay when nobody holds it any more. */
  release(): void {
    try {
      this.write(false);
    } catch {
      // A line that cannot be darkened is given back all the same: opening it anew is the other way to darken it.
    }
    giveBack(this.#native);
  }
}

export class InterlockPin {
  readonly #native: NativeLine;
  readonly #read: () => 0 | 1;
  readonly #line: number;
  readonly #activeLow: boolean;

  constructor(native: NativeLine, line: number, activeLow: boolean) {
    this.#native = native;
    this.#line = line;
    this.#activeLow = activeLow;
    const read = native.readSync.bind(native);
    this.#read = read;
    // onoff also reads the line when the kernel wakes its poller, and there nobody could catch a failure. It takes the
    // failure for an edge now, and whoever hears of that edge reads for itself.
    native.readSync = () => {
      try {
        return read();
      } catch {
        return 0;
      }
    };
  }

  isClosed(): boolean {
    try {
      return (this.#read() === 1) !== this.#activeLow;
    } catch (error) {
      throw lineError(this.#line, 'be read', error);
    }
  }

  release(): void {
    giveBack(this.#native);
  }
}

async function ready(
  { root, clock }: GpioOptions,
  choice: PinChoice,
  files: readonly string[],
): Promise<number> {
  const line = lineNumber(await headerChip(root), choice.bcm);
  await exportLine(root, line, files, clock);
  return line;
}

/** Whole at every instant: a kill may come at any. */
async function leaveRecord(file: string, content: string): Promise<void> {
  try {
    await writeFile(`${file}.new`, content);
    await rename(`${file}.new`, file);
  } catch (error) {
    throw pinError(
      `${file} cannot be written, so the pin would stay lit after a kill`,
      'Give the unit its RuntimeDirectory=trunnion back, and restart it.',
      error,
    );
  }
}

function open(line: number, construct: () => NativeLine): NativeLine {
  try {
    return construct();
  } catch (error) {
    throw lineError(line, 'be opened', error);
  }
}

/** onoff swallows what goes wrong with a line that was exported before. */
function verify(
  line: number,
  native: NativeLine,
  wanted: { direction: string; activeLow: boolean; level?: 0 | 1; edge?: string },
): void {
  try {
    const found = {
      direction: native.direction(),
      activeLow: native.activeLow(),
      ...(wanted.level !== undefined && { level: native.readSync() }),
      ...(wanted.edge !== undefined && { edge: native.edge() }),
    };
    const [wants, has] = [JSON.stringify(wanted), JSON.stringify(found)];
    if (wants === has) return;
    throw pinError(
      `GPIO line ${line} is ${has} after it was opened as ${wants}`,
      'Something else drives or holds the pin: end it, check the wiring, or configure another pin.',
    );
  } catch (error) {
    throw error instanceof RobotError ? error : lineError(line, 'be verified', error);
  }
}

function giveBack(native: NativeLine): void {
  try {
    native.unexport();
  } catch {
    // The line is gone already.
  }
}
