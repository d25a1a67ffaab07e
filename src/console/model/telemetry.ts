import { signal } from '@preact/signals';
import type { Clock } from '../../core/clock.js';
import { isObject } from '../../core/json.js';
import { UNIT_LIST, type UnitName } from '../../core/units.js';
import type { Status } from '../../schemas/status.js';
import type { Pose, Reading, Telemetry } from '../../schemas/telemetry.js';

/** Enough samples for 2 minutes at 50 Hz. */
const SAMPLES = 8192;
const MOST_MARKS = 500;
const TRAIL_POSES = 400;
const TRAIL_STEP_M = 0.03;
/** Readings of a stream in contact are about this late at most, in seconds. */
const LATEST_S = 0.5;
/** Readings further apart than this are a gap, in seconds. */
const GAP_S = 0.5;
/** While data is missing, plots are drawn again after this time, in seconds. */
const GAP_FRAME_S = 0.1;

/** The latest measurements of the robot, on the page's time axis. */
export class TelemetryView {
  readonly buffer = new TelemetryBuffer(SAMPLES);
  /** The latest places of the robot. */
  readonly trail: Pose[] = [];
  readonly timeline = new Timeline();
  readonly marks: Mark[] = [];
  /** Changes at most once per frame of the browser. */
  readonly frame = signal(0);
  latest: Telemetry | undefined;
  /** The number of samples that have arrived. */
  count = 0;
  readonly #clock: Clock;
  #hasNews = true;
  /** True while no data arrives, so at first too. */
  #isBroken = true;
  #drawnS = 0;
  #retries: { readonly total: number; readonly perS: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** The latest measurements, for a drawing: it is drawn again at each `frame`. */
  get shown(): Telemetry | undefined {
    this.frame.value;
    return this.latest;
  }

  /** The newest reading's time. While data is missing, time goes on. */
  get nowT(): number {
    const { newestT = Number.NEGATIVE_INFINITY } = this.buffer;
    return this.#isBroken ? Math.max(newestT, this.#pageS()) : newestT;
  }

  take(sample: Telemetry): void {
    const t = this.timeline.pageTime(sample.t, this.#pageS());
    this.buffer.push({ ...sample, t, retries: this.#retries?.perS });
    this.#isBroken = false;
    this.#trace(sample);
    this.latest = sample;
    this.count += 1;
    this.#hasNews = true;
  }

  #trace({ chassis }: Telemetry): void {
    const [pose, last] = [chassis?.pose, this.trail.at(-1)];
    if (!isPose(pose)) return;
    if (last !== undefined && Math.hypot(pose.x - last.x, pose.y - last.y) < TRAIL_STEP_M) return;
    this.trail.push(pose);
    if (this.trail.length > TRAIL_POSES) this.trail.shift();
  }

  /** Takes in readings from before the page was opened, oldest first. */
  takePast(samples: readonly Telemetry[]): void {
    const last = samples.at(-1);
    if (last === undefined) return;
    const offset = this.timeline.offsetAt(last.t, this.#pageS());
    this.buffer.prepend(samples.map(sample => ({ ...sample, t: sample.t + offset })));
    for (const sample of samples) this.#trace(sample);
    this.#hasNews = true;
  }

  /** Call this when data stops arriving, so that plots show a gap. */
  breakOff(): void {
    const { newestT: t } = this.buffer;
    // A moment without values: plots draw no line across it.
    if (t !== undefined) this.buffer.push({ t, gimbal: null, chassis: null });
    this.#isBroken = true;
  }

  /** Call this once a second with the bus retries so far. Undefined while nobody asks for them. */
  heardRetries(total: number | undefined): void {
    const before = this.#retries?.total ?? total;
    this.#retries = total === undefined ? undefined : { total, perS: Math.max(0, total - (before ?? total)) };
  }

  /** Marks the differences between two statuses. */
  mark(before: Status, after: Status): void {
    this.#addMarks(marksBetween(before, after, this.#markT));
  }

  /** Marks this moment for both units. */
  note(text: string): void {
    this.#addMarks([{ t: this.#markT, text }]);
  }

  /** The newest reading's time. After a loss of contact, about now, because the new readings are still to come. */
  get #markT(): number {
    return Math.max(this.nowT, this.#pageS() - LATEST_S);
  }

  #addMarks(marks: readonly Mark[]): void {
    this.marks.push(...marks);
    this.marks.splice(0, this.marks.length - MOST_MARKS);
    this.#hasNews = true;
  }

  /** Called once for each frame of the browser. */
  draw(): void {
    const isDue = this.#isBroken && this.#pageS() - this.#drawnS > GAP_FRAME_S;
    if (!this.#hasNews && !isDue) return;
    this.#hasNews = false;
    this.#drawnS = this.#pageS();
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

  /**
   * The offset that turns the daemon's seconds into the page's seconds. `t` is the daemon's time now, or shortly
   * before.
   */
  offsetAt(t: number, nowS: number): number {
    this.#offset ??= nowS - t;
    return this.#offset;
  }

  pageTime(t: number, nowS: number): number {
    if (this.#isNew && Math.abs(t + this.offsetAt(t, nowS) - nowS) > 0.5) this.#offset = nowS - t;
    this.#isNew = false;
    this.#last = Math.max(this.#last, t + this.offsetAt(t, nowS));
    return this.#last;
  }
}

export interface Mark {
  readonly t: number;
  /** Undefined if the mark is for both units. */
  readonly unit?: UnitName;
  readonly text: string;
}

/** Changes between two statuses that plots mark. */
export function marksBetween(before: Status, after: Status, t: number): Mark[] {
  const ofUnits = UNIT_LIST.flatMap(({ name }) => {
    const [was, is] = [before[name], after[name]];
    const texts = [
      is.gains.revision !== was.gains.revision && `rev ${is.gains.revision}`,
      is.mode !== was.mode && is.mode,
      is.online !== was.online && (is.online ? 'online' : 'offline'),
    ];
    return texts.flatMap(text => (text ? [{ t, unit: name, text }] : []));
  });
  if (after.stopped === before.stopped) return ofUnits;
  return [...ofUnits, { t, text: after.stopped ? 'STOP' : 'resume' }];
}

export const SERIES = ['setpoint', 'measured', 'output'] as const;
export type Series = (typeof SERIES)[number];

/** Unknown values are null. Plots leave them out. */
export type Columns = { readonly t: number[] } & Readonly<Record<Series | 'retries', (number | null)[]>>;

/** The times between which readings are missing. `untilT`: the time of the newest reading that may be expected. */
export function gapsIn({ t, measured }: Pick<Columns, 't' | 'measured'>, untilT: number): [number, number][] {
  const known = t.filter((_, index) => measured[index] !== null);
  const ends = [...(known[0] === t[0] ? [] : t.slice(0, 1)), ...known, ...(t.length > 0 ? [untilT] : [])];
  return ends.flatMap((toT, index): [number, number][] => {
    const fromT = ends[index - 1] ?? toT;
    return toT - fromT > GAP_S ? [[fromT, toT]] : [];
  });
}

/** A sample on the page's time axis, with the bus retries of the latest second if they are known. */
type Sample = Telemetry & { readonly retries?: number | undefined };

/** The last samples of every loop, in the page's time. */
export class TelemetryBuffer {
  readonly #capacity: number;
  readonly #samples: Sample[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The time of the newest sample; undefined before the first. */
  get newestT(): number | undefined {
    return this.#samples.at(-1)?.t;
  }

  /** The times must not decrease. */
  push(sample: Sample): void {
    this.#samples.push(sample);
    if (this.#samples.length > this.#capacity) this.#samples.shift();
  }

  /** Inserts older samples before the present ones. */
  prepend(samples: readonly Telemetry[]): void {
    const firstT = this.#samples[0]?.t ?? Number.POSITIVE_INFINITY;
    this.#samples.unshift(...samples.filter(({ t }) => t < firstT));
  }

  /** The samples between the two times, and one more at each end. */
  read(unit: UnitName, loop: string, fromT: number, toT: number): Columns {
    const start = this.#samples.findLastIndex(({ t }) => t < fromT);
    const end = this.#samples.findLastIndex(({ t }) => t < toT) + 2;
    const samples = this.#samples.slice(Math.max(0, start), end);
    const readings = samples.map(sample => sample[unit]?.[loop]);
    const column = (series: Series) => readings.map(reading => (isReading(reading) ? reading[series] : null));
    return {
      t: samples.map(({ t }) => t),
      setpoint: column('setpoint'),
      measured: column('measured'),
      output: column('output'),
      retries: samples.map(({ retries }) => retries ?? null),
    };
  }
}

export function isReading(value: unknown): value is Reading {
  return isObject(value) && typeof value.setpoint === 'number' && typeof value.measured === 'number';
}

export function isPose(value: unknown): value is Pose {
  return isObject(value) && typeof value.x === 'number' && typeof value.heading === 'number';
}
