import { signal } from '@preact/signals';
import type { Clock } from '../../core/clock.js';
import { mostUrgentFirst } from './lines.js';
import type { AnswerableLine } from './strip.js';

/** A shorter line could not be read. */
const LEAST_MS = 1000;

/**
 * Makes a function that keeps lines in sight for at least LEAST_MS. It returns the lines to show: the present ones, and those
 * that appeared too short a time ago. A newer line replaces one about the same. A line about safety is never shown
 * longer than it is true.
 */
export function holdLines(clock: Clock): (lines: readonly AnswerableLine[]) => AnswerableLine[] {
  /** The lines in sight, and when each appeared. */
  const shown = new Map<string, { line: AnswerableLine; sinceMs: number }>();
  const passed = signal(0);
  return lines => {
    passed.value;
    const nowMs = clock.nowMs();
    const present = new Map(lines.map(line => [line.about, line]));
    for (const [about, { line, sinceMs }] of shown)
      if (!present.has(about) && (line.isClaim || nowMs - sinceMs >= LEAST_MS)) shown.delete(about);
    for (const [about, line] of present) {
      const sinceMs = shown.get(about)?.sinceMs ?? nowMs;
      if (!shown.has(about)) clock.after(LEAST_MS, () => passed.value++);
      shown.set(about, { line, sinceMs });
    }
    const held = [...shown].flatMap(([about, { line }]) => (present.has(about) ? [] : [line]));
    return mostUrgentFirst([...lines, ...held]);
  };
}
