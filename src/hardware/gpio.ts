import { rename, writeFile } from 'node:fs/promises';
import type { Clock } from '../core/clock.js';
import { valueOr } from '../core/errors.js';
import { headerChip, lineNumber, pinError } from './gpio-chip.js';
import { exportLine, type NativeLine, onLine, type Pin, pinOn } from './gpio-line.js';

/** The part of the addon onoff that is used here. */
export interface GpioNative {
  readonly Gpio: new (
    line: number,
    direction: 'in' | 'low' | 'high',
    edge: 'none' | 'both',
    options: { readonly activeLow: boolean },
  ) => NativeLine;
}

/** A pin, by its BCM number. With `activeLow`, level 0 means light or a closed contact. */
export interface PinChoice {
  readonly bcm: number;
  readonly activeLow: boolean;
}

export interface GpioOptions {
  readonly native: GpioNative;
  /** /sys/class/gpio */
  readonly root: string;
  readonly clock: Clock;
  /**
   * The file that tells trunnion-dark the line and dark level of the laser's pin. Undefined if trunnion-dark is not
   * used.
   */
  readonly record?: string | undefined;
}

/**
 * The kernel's own `active_low` stays off. It would invert the values of a line, but not the level at which the line
 * opens.
 */
const RAW = { activeLow: false };

/** Opens the pin at its dark level, in one write of direction and level. Rejects with `pin-failed`. */
export async function openLaserPin(options: GpioOptions, { bcm, activeLow }: PinChoice): Promise<Pin> {
  const level = activeLow ? 'high' : 'low';
  const line = await ready(options, bcm, ['value', 'direction', 'active_low']);
  if (options.record !== undefined) await leaveRecord(options.record, `${line} ${level}\n`);
  const native = onLine(line, 'be opened', () => new options.native.Gpio(line, level, 'none', RAW));
  return prepared(pinOn(native, line, activeLow, true), () =>
    verify(line, { direction: 'out', ...RAW, level: activeLow ? 1 : 0 }, () => ({
      direction: native.direction(),
      activeLow: native.activeLow(),
      level: native.readSync(),
    })),
  );
}

/** Opens the pin of a contact. Calls `onEdge` at every edge, and when the line is lost. Rejects with `pin-failed`. */
export async function openInterlockPin(
  options: GpioOptions,
  { bcm, activeLow }: PinChoice,
  onEdge: () => void,
): Promise<Pin> {
  const line = await ready(options, bcm, ['value', 'direction', 'active_low', 'edge']);
  const native = onLine(line, 'be opened', () => new options.native.Gpio(line, 'in', 'both', RAW));
  const pin = pinOn(native, line, activeLow, false);
  const read = native.readSync.bind(native);
  // onoff also reads the line in its poller, where an error cannot be caught. A failed read counts as an edge, and
  // the listener then reads the line itself.
  native.readSync = () => valueOr(read, 0);
  return prepared(pin, () => {
    verify(line, { direction: 'in', ...RAW, edge: 'both' }, () => ({
      direction: native.direction(),
      activeLow: native.activeLow(),
      edge: native.edge(),
    }));
    onLine(line, 'be watched', () => native.watch(onEdge));
  });
}

/** Exports the line, and resolves with its number when its files are writable. */
async function ready({ root, clock }: GpioOptions, bcm: number, files: readonly string[]): Promise<number> {
  const line = lineNumber(await headerChip(root), bcm);
  await exportLine(root, line, files, clock);
  return line;
}

/** Writes the record so that it is complete at every instant, because the process may be killed at any time. */
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

/** Returns the pin after `prepare`, or releases it if that throws. */
function prepared(pin: Pin, prepare: () => void): Pin {
  try {
    prepare();
    return pin;
  } catch (error) {
    pin.release();
    throw error;
  }
}

/** Checks the state of the opened line, because onoff hides failures if the line was exported before. */
function verify<State extends object>(line: number, wanted: State, look: () => State): void {
  const [wants, has] = [JSON.stringify(wanted), JSON.stringify(onLine(line, 'be verified', look))];
  if (wants === has) return;
  throw pinError(
    `GPIO line ${line} is ${has} after it was opened as ${wants}`,
    'Something else drives or holds the pin: end it, check the wiring, or configure another pin.',
  );
}
