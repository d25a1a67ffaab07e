import { signal } from '@preact/signals';
import type { Status } from '../../schemas/status.js';
import type { Sample } from '../daemon/robot-state.js';
import { Trail } from '../robot/draw-top-view.js';
import { TelemetryBuffer } from './telemetry-buffer.js';
import { type Mark, marksBetween, Timeline } from './timeline.js';

/** Two minutes and more at 50 Hz, over a minute at 100 Hz. */
const SAMPLES = 8192;
const MOST_MARKS = 500;

/** What the robot measured lately, on the page's time axis. */
export class Telemetry {
  readonly buffer = new TelemetryBuffer(SAMPLES);
  readonly trail = new Trail();
  readonly marks: Mark[] = [];
  /** Changes at most once a picture; what is drawn from telemetry is drawn then. */
  readonly frame = signal(0);
  latest: Sample | undefined;
  /** Samples that came. */
  count = 0;
  readonly #timeline = new Timeline();
  #hasNews = true;

  get nowT(): number {
    return this.buffer.newestT ?? pageS();
  }

  streamOpened(): void {
    this.#timeline.streamOpened();
  }

  take(sample: Sample): void {
    this.buffer.push(this.#timeline.pageTime(sample.t, pageS()), sample);
    this.trail.take(sample);
    this.latest = sample;
    this.count += 1;
    this.#hasNews = true;
  }

  breakOff(): void {
    if (this.buffer.newestT !== undefined) this.buffer.pushGap(this.buffer.newestT);
    this.#hasNews = true;
  }

  /** What happened between two statuses. */
  mark(before: Status, after: Status): void {
    this.marks.push(...marksBetween(before, after, this.nowT));
    this.marks.splice(0, this.marks.length - MOST_MARKS);
    this.#hasNews = true;
  }

  /** Once for each picture of the browser. */
  draw(): void {
    if (!this.#hasNews) return;
    this.#hasNews = false;
    this.frame.value += 1;
  }
}

function pageS(): number {
  return performance.now() / 1000;
}
