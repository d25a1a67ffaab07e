import { UNIT_LIST, type UnitName } from '../../core/units.js';
import type { Status } from '../../schemas/status.js';

/**
 * The daemon's seconds on the page's axis. A new daemon counts from elsewhere, so each stream is tied to the page's
 * clock anew when it does not go on where the last one was; the axis never runs backwards.
 */
export class Timeline {
  #offset: number | undefined;
  #isNew = true;
  #last = Number.NEGATIVE_INFINITY;

  streamOpened(): void {
    this.#isNew = true;
  }

  pageTime(t: number, nowS: number): number {
    if (this.#offset === undefined || (this.#isNew && Math.abs(t + this.#offset - nowS) > 0.5)) {
      this.#offset = nowS - t;
    }
    this.#isNew = false;
    this.#last = Math.max(this.#last, t + this.#offset);
    return this.#last;
  }
}

export interface Mark {
  readonly t: number;
  /** Undefined for both units. */
  readonly unit?: UnitName;
  readonly text: string;
}

/** What happened between two statuses and is worth a line in the plots. */
export function marksBetween(before: Status, after: Status, t: number): Mark[] {
  const marks: Mark[] = [];
  for (const { name } of UNIT_LIST) {
    const was = before[name];
    const is = after[name];
    if (is.gains.revision !== was.gains.revision) {
      marks.push({ t, unit: name, text: `rev ${is.gains.revision}` });
    }
    if (is.mode !== was.mode && is.mode !== null) {
      marks.push({ t, unit: name, text: is.mode });
    }
    if (is.online !== was.online) {
      marks.push({ t, unit: name, text: is.online ? 'online' : 'offline' });
    }
  }
  if (after.stopped !== before.stopped) {
    marks.push({ t, text: after.stopped ? 'STOP' : 'resume' });
  }
  return marks;
}
