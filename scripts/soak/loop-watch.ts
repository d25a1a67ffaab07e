import { readFileSync } from 'node:fs';

const LOOK_EVERY_MS = 5;

export interface Held {
  /** Longest time on the processor in one turn of the event loop since it was last asked, in ms. */
  readonly busyMs: number;
  /** Longest time between two turns, the processor's other work and waiting for disks included, in ms. */
  readonly lateMs: number;
}

/**
 * Watches how long the event loop is held. A machine that is busy with other things makes every loop late; only what
 * the process itself computed meanwhile is its own fault, so that both are measured.
 */
export class LoopWatch {
  #atMs = performance.now();
  #cpuMs = cpuMs();
  #busyMs = 0;
  #lateMs = 0;

  constructor() {
    setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  take(): Held {
    const held = { busyMs: this.#busyMs, lateMs: this.#lateMs };
    this.#busyMs = 0;
    this.#lateMs = 0;
    return held;
  }

  #look(): void {
    const nowMs = performance.now();
    const usedMs = cpuMs();
    const lateMs = nowMs - this.#atMs - LOOK_EVERY_MS;
    this.#busyMs = Math.max(this.#busyMs, usedMs - this.#cpuMs);
    this.#lateMs = Math.max(this.#lateMs, lateMs);
    this.#atMs = nowMs;
    this.#cpuMs = usedMs;
  }
}

/** The processor time of the event loop's thread alone, since other threads collect garbage and compile. */
function cpuMs(): number {
  const [ranNs] = readFileSync('/proc/self/schedstat', 'utf8').split(' ');
  return Number(ranNs) / 1e6;
}
