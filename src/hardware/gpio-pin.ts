import { lineError } from './gpio-line.js';
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

  /** Writes dark before it gives the line back, because the line may keep its level. */
  release(): void {
    try {
      this.write(false);
    } catch {
      // Give the line back in any case: opening it again is the other way to darken it.
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
    // onoff also reads the line in its poller, where an error cannot be caught. A failed read counts as an edge. The
    // listener then reads the line itself.
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

function giveBack(native: NativeLine): void {
  try {
    native.unexport();
  } catch {
    // The line is already gone.
  }
}
