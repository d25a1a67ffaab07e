import { signal } from '@preact/signals';
import type { Clock } from '../../core/clock.js';
import { UNIT_LIST, type UnitName } from '../../core/units.js';
import type { Status } from '../../schemas/status.js';
import type { Telemetry } from '../../schemas/telemetry.js';
import { Trail } from './readings.js';
import { TelemetryBuffer } from './telemetry-buffer.js';

/** Enough samples for 2 minutes at 50 Hz. */
const SAMPLES = 8192;
const MOST_MARKS = 500;

/** The latest measurements of the robot, on the page's time axis. */
export class TelemetryView {
  readonly buffer = new TelemetryBuffer(SAMPLES);
  readonly trail = new Trail();
  readonly marks: Mark[] = [];
  /** Changes at most once per frame of the browser. Drawings of telemetry depend on it. */
  readonly frame = signal(0);
  latest: Telemetry | undefined;
  /** The number of samples that have arrived. */
  count = 0;
  readonly #clock: Clock;
  readonly #timeline = new Timeline();
  #hasNews = true;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get nowT(): number {
    return this.buffer.newestT ?? this.#pageS();
  }

  streamOpened(): void {
    this.#timeline.streamOpened();
  }

  take(sample: Telemetry): void {
    this.buffer.push({ ...sample, t: this.#timeline.pageTime(sample.t, this.#pageS()) });
    this.trail.take(sample);
    this.latest = sample;
    this.count += 1;
    this.#hasNews = true;
  }

  /** Readings from before the page was opened, oldest first. */
  takePast(samples: readonly Telemetry[]): void {
    const last = samples.at(-1);
    if (last === undefined) return;
    const offset = this.#timeline.offsetAt(last.t, this.#pageS());
    this.buffer.prepend(samples.map(sample => ({ ...sample, t: sample.t + offset })));
    for (const sample of samples) this.trail.take(sample);
    this.#hasNews = true;
  }

  /** No more data arrives, so plots show a gap. */
  breakOff(): void {
    if (this.buffer.newestT !== undefined) this.buffer.pushGap(this.buffer.newestT);
    this.#hasNews = true;
  }

  /** Marks the differences between two statuses. */
  mark(before: Status, after: Status): void {
    this.marks.push(...marksBetween(before, after, this.nowT));
    this.marks.splice(0, this.marks.length - MOST_MARKS);
    this.#hasNews = true;
  }

  /** Called once for each frame of the browser. */
  draw(): void {
    if (!this.#hasNews) return;
    this.#hasNews = false;
    this.frame.value += 1;
  }

  #pageS(): number {
    return this.#clock.nowMs() / 1000;
  }
}

/**
 * Converts the daemon's seconds to the page's time axis. A restarted daemon counts from another value, so a new stream whose
 * times do not continue the old ones gets a new offset. The axis never runs backwards.
 */
export class Timeline {
  #offset: number | undefined;
  #isNew = true;
  #last = Number.NEGATIVE_INFINITY;

  streamOpened(): void {
    this.#isNew = true;
  }

  /** The number to add to the daemon's seconds. `t` is the daemon's current time, or a time shortly before. */
  offsetAt(t: number, nowS: number): number {
    this.#offset ??= nowS - t;
    return this.#offset;
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

/** Changes between two statuses that plots mark. */
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
