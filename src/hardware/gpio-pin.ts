import { onLine } from './gpio-line.js';
import type { OutputPin } from './ports.js';

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

/** An open line. With `activeLow`, level 0 is `true`. Every failure is `pin-failed`. */
export class Pin implements OutputPin {
  readonly #native: NativeLine;
  readonly #readSync: () => 0 | 1;
  readonly #line: number;
  readonly #activeLow: boolean;

  constructor(native: NativeLine, line: number, activeLow: boolean) {
    this.#native = native;
    this.#readSync = native.readSync.bind(native);
    this.#line = line;
    this.#activeLow = activeLow;
  }

  write(on: boolean): void {
    onLine(this.#line, 'be written', () => this.#native.writeSync(on !== this.#activeLow ? 1 : 0));
  }

  read(): boolean {
    return onLine(this.#line, 'be read', () => this.#readSync() === 1) !== this.#activeLow;
  }

  /** Never throws. */
  release(): void {
    try {
      this.#native.unexport();
    } catch {
      // The line is already gone.
    }
  }
}

export class LaserPin extends Pin {
  /** Writes dark before it gives the line back, because the line may keep its level. */
  override release(): void {
    try {
      this.write(false);
    } catch {
      // Gives the line back in any case: opening it again is the other way to darken it.
    }
    super.release();
  }
}
