import type { UnitName } from '../../core/units.js';
import type { Telemetry } from '../../schemas/telemetry.js';
import { isReading } from './readings.js';

export const SERIES = ['setpoint', 'measured', 'output'] as const;
export type Series = (typeof SERIES)[number];

/** Unknown values are null. Plots leave them out. */
export type Columns = { readonly t: number[] } & Readonly<Record<Series, (number | null)[]>>;

/** The last samples of every loop, in the page's time. */
export class TelemetryBuffer {
  readonly #capacity: number;
  readonly #samples: Telemetry[] = [];

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** The time of the newest sample; undefined before the first. */
  get newestT(): number | undefined {
    return this.#samples.at(-1)?.t;
  }

  /** The times must not decrease. */
  push(sample: Telemetry): void {
    this.#samples.push(sample);
    if (this.#samples.length > this.#capacity) this.#samples.shift();
  }

  /** Inserts older samples before the present ones. */
  prepend(samples: readonly Telemetry[]): void {
    const firstT = this.#samples[0]?.t ?? Number.POSITIVE_INFINITY;
    this.#samples.unshift(...samples.filter(({ t }) => t < firstT));
  }

  /** Adds a moment without values, so that plots draw no line across a gap. */
  pushGap(t: number): void {
    this.push({ t, gimbal: null, chassis: null });
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
    };
  }
}
