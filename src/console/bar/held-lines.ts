import { signal } from '@preact/signals';
import type { Clock } from '../../core/clock.js';
import { mostUrgentFirst } from './lines.js';
import type { AnswerableLine } from './strip.js';

/** A shorter line could not be read. */
const LEAST_MS = 1000;

/** Keeps lines in sight for at least LEAST_MS. A claim is never shown longer than it is true. */
export class HeldLines {
  readonly #clock: Clock;
  /** The lines in sight, and when each appeared. */
  readonly #shown = new Map<string, { line: AnswerableLine; sinceMs: number }>();
  readonly #passed = signal(0);

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The lines to show: these, and those that appeared too short a time ago. A newer line replaces one about the same. */
  hold(lines: readonly AnswerableLine[]): AnswerableLine[] {
    this.#passed.value;
    const nowMs = this.#clock.nowMs();
    const present = new Map(lines.map(line => [line.about, line]));
    for (const [about, { line, sinceMs }] of this.#shown)
      if (!present.has(about) && (line.isClaim || nowMs - sinceMs >= LEAST_MS)) this.#shown.delete(about);
    for (const [about, line] of present) {
      const sinceMs = this.#shown.get(about)?.sinceMs ?? nowMs;
      if (!this.#shown.has(about)) this.#clock.after(LEAST_MS, () => this.#pass());
      this.#shown.set(about, { line, sinceMs });
    }
    const held = [...this.#shown].flatMap(([about, { line }]) => (present.has(about) ? [] : [line]));
    return mostUrgentFirst([...lines, ...held]);
  }

  #pass(): void {
    this.#passed.value = this.#passed.peek() + 1;
  }
}
