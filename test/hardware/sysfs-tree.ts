import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GpioNative } from '../../src/hardware/gpio.js';
import type { NativeLine } from '../../src/hardware/gpio-line.js';

type Chip = readonly [label: string, base: number, lines: number];

export const PI_3_OLD: readonly Chip[] = [
  ['pinctrl-bcm2835', 0, 54],
  ['raspberrypi-exp-gpio', 504, 8],
];
export const PI_3: readonly Chip[] = [
  ['pinctrl-bcm2835', 512, 54],
  ['raspberrypi-exp-gpio', 566, 8],
];
export const PI_4: readonly Chip[] = [
  ['pinctrl-bcm2711', 512, 58],
  ['raspberrypi-exp-gpio', 570, 8],
];
const PI_5_BESIDE: readonly Chip[] = [
  ['gpio-brcmstb@107d508500', 512, 32],
  ['gpio-brcmstb@107d508520', 544, 4],
  ['gpio-brcmstb@107d517c00', 548, 17],
  ['gpio-brcmstb@107d517c20', 565, 6],
];
export const PI_5_OLD: readonly Chip[] = [...PI_5_BESIDE, ['pinctrl-rp1', 399, 54]];
export const PI_5: readonly Chip[] = [...PI_5_BESIDE, ['pinctrl-rp1', 571, 54]];

/** /sys/class/gpio in a folder. */
export function makeTree(root: string, chips: readonly Chip[]): void {
  writeFileSync(join(root, 'export'), '');
  for (const [label, base, lines] of chips) {
    const chip = join(root, `gpiochip${base}`);
    mkdirSync(chip);
    writeFileSync(join(chip, 'label'), `${label}\n`);
    writeFileSync(join(chip, 'base'), `${base}\n`);
    writeFileSync(join(chip, 'ngpio'), `${lines}\n`);
  }
}

/** Acts as the kernel when a number is written to `export`. */
export function exportedLine(
  root: string,
  line: number,
  files: Readonly<Record<string, string>> = {},
): string {
  const folder = join(root, `gpio${line}`);
  mkdirSync(folder);
  const content = { direction: 'in', value: '0', active_low: '0', edge: 'none', ...files };
  for (const [file, text] of Object.entries(content)) writeFileSync(join(folder, file), `${text}\n`);
  return folder;
}

/** Plays onoff on lines that are already exported, and the parts of the kernel that onoff uses. Works on files. */
export class ScriptedGpio {
  /** The writes to all lines in order, each with its file. */
  readonly writes: string[] = [];
  readonly released: number[] = [];
  /** Files that refuse to be written. */
  readonly refusing = new Set<string>();
  readonly native: GpioNative;
  /** The number of next reads of a level that fail. */
  failingReads = 0;
  /** The watched lines, as onoff's poller knows them. */
  readonly #watched = new Map<NativeLine, () => void>();

  constructor(root: string) {
    const owner = this;
    class Line implements NativeLine {
      readonly #folder: string;
      readonly #line: number;

      constructor(
        line: number,
        direction: 'in' | 'low' | 'high',
        edge: string,
        { activeLow }: { readonly activeLow: boolean },
      ) {
        this.#folder = join(root, `gpio${line}`);
        this.#line = line;
        this.#swallow(() => this.#write('active_low', activeLow ? '1' : '0'));
        this.#swallow(() => this.#write('direction', direction));
        if (direction === 'in') this.#swallow(() => this.#write('edge', edge));
        this.readSync();
      }

      readSync(): 0 | 1 {
        if (owner.failingReads > 0) {
          owner.failingReads -= 1;
          throw Object.assign(new Error('EIO: recorded'), { errno: -5, code: 'EIO', syscall: 'read' });
        }
        return this.#read('value') === '1' ? 1 : 0;
      }

      writeSync(level: 0 | 1): void {
        this.#write('value', String(level));
      }

      direction(): string {
        return this.#read('direction');
      }

      edge(): string {
        return this.#read('edge');
      }

      activeLow(): boolean {
        return this.#read('active_low') === '1';
      }

      watch(onEdge: () => void): void {
        owner.#watched.set(this, onEdge);
      }

      unexport(): void {
        owner.#watched.delete(this);
        owner.released.push(this.#line);
        rmSync(this.#folder, { recursive: true });
      }

      #swallow(act: () => void): void {
        try {
          act();
        } catch {
          // onoff ignores these errors, and so does its replacement.
        }
      }

      #read(file: string): string {
        return readFileSync(join(this.#folder, file), 'utf8').trim();
      }

      #write(file: string, text: string): void {
        if (owner.refusing.has(file)) {
          throw Object.assign(new Error('EPERM: recorded'), { errno: -1, code: 'EPERM', syscall: 'write' });
        }
        const levels: Readonly<Record<string, string>> = { low: '0', high: '1' };
        const level = levels[text];
        if (file === 'direction' && level !== undefined) {
          writeFileSync(join(this.#folder, 'value'), level);
          writeFileSync(join(this.#folder, 'direction'), 'out');
        } else {
          writeFileSync(join(this.#folder, file), text);
        }
        owner.writes.push(`${file} ${text}`);
      }
    }
    this.native = { Gpio: Line };
  }

  /** The kernel wakes onoff's poller, which reads the line before it calls a listener. */
  edge(): void {
    for (const [line, onEdge] of [...this.#watched]) {
      line.readSync();
      onEdge();
    }
  }
}
