import { signal } from '@preact/signals';
import type { Clock } from '../../core/clock.js';
import type { Status } from '../../schemas/status.js';
import type { Telemetry } from '../../schemas/telemetry.js';
import { Trail } from './readings.js';
import { TelemetryBuffer } from './telemetry-buffer.js';
import { type Mark, marksBetween, Timeline } from './timeline.js';

/** Two minutes and more at 50 Hz, over a minute at 100 Hz. */
const SAMPLES = 8192;
const MOST_MARKS = 500;

/** The latest measurements of the robot, on the page's time axis. */
export class TelemetryView {
  readonly buffer = new TelemetryBuffer(SAMPLES);
  readonly trail = new Trail();
  readonly marks: Mark[] = [];
  /** Changes at most once a frame of the browser; drawings of telemetry follow it. */
  readonly frame = signal(0);
  latest: Telemetry | undefined;
  /** The number of samples that came. */
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
    this.buffer.push(this.#timeline.pageTime(sample.t, this.#pageS()), sample);
    this.trail.take(sample);
    this.latest = sample;
    this.count += 1;
    this.#hasNews = true;
  }

  /** Nothing comes any more, so plots show a gap. */
  breakOff(): void {
    if (this.buffer.newestT !== undefined) this.buffer.pushGap(this.buffer.newestT);
    this.#hasNews = true;
  }

  /** Marks what changed between two statuses. */
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
