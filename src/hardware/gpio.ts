import { rename, writeFile } from 'node:fs/promises';
import type { Clock } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { headerChip, lineNumber, pinError } from './gpio-chip.js';
import { exportLine, lineError } from './gpio-line.js';
import { InterlockPin, LaserPin, type NativeLine } from './gpio-pin.js';

/** The part of the addon onoff that is used here. */
export interface GpioNative {
  readonly Gpio: new (
    line: number,
    direction: 'in' | 'low' | 'high',
    edge: 'none' | 'both',
    options: { readonly activeLow: boolean },
  ) => NativeLine;
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
  /** The file where trunnion-dark finds line and dark level of the laser's pin; undefined where nothing runs it. */
  readonly record?: string | undefined;
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
    const dark = choice.activeLow ? 1 : 0;
    verify(line, { direction: 'out', activeLow: false, level: dark }, () => ({
      direction: native.direction(),
      activeLow: native.activeLow(),
      level: native.readSync(),
    }));
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
    verify(line, { direction: 'in', activeLow: false, edge: 'both' }, () => ({
      direction: native.direction(),
      activeLow: native.activeLow(),
      edge: native.edge(),
    }));
    native.watch(onEdge);
    return pin;
  } catch (error) {
    pin.release();
    throw error instanceof RobotError ? error : lineError(line, 'be watched', error);
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

/** Writes the record so that it is whole at every instant, since the process may be killed at any. */
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

/** Checks what onoff has done, because it hides failures with a line that was exported before. */
function verify<State extends object>(line: number, wanted: State, look: () => State): void {
  try {
    const [wants, has] = [JSON.stringify(wanted), JSON.stringify(look())];
    if (wants === has) return;
    throw pinError(
      `GPIO line ${line} is ${has} after it was opened as ${wants}`,
      'Something else drives or holds the pin: end it, check the wiring, or configure another pin.',
    );
  } catch (error) {
    throw error instanceof RobotError ? error : lineError(line, 'be verified', error);
  }
}
