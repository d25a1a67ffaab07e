import { UNIT_LIST, type UnitName } from '../../core/units.js';
import type { Telemetry } from '../../schemas/telemetry.js';
import { isReading } from './readings.js';

export const SERIES = ['setpoint', 'measured', 'output'] as const;
export type Series = (typeof SERIES)[number];

/** Unknown values are null. Plots leave them out. */
export type Columns = { readonly t: number[] } & Readonly<Record<Series, (number | null)[]>>;

export function emptyColumns(): Columns {
  return { t: [], setpoint: [], measured: [], output: [] };
}

/** The last samples of every loop, in the page's time. */
export class TelemetryBuffer {
  readonly #capacity: number;
  readonly #t: Float64Array;
  readonly #values = new Map<string, Float32Array>();
  #count = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
    this.#t = new Float64Array(capacity);
    for (const unit of UNIT_LIST) {
      for (const loop of unit.loops) {
        for (const series of SERIES) {
          this.#values.set(keyOf(unit.name, loop.name, series), new Float32Array(capacity));
        }
      }
    }
  }

  /** The time of the newest sample; undefined before the first. */
  get newestT(): number | undefined {
    return this.#count === 0 ? undefined : this.#at(this.#count - 1);
  }

  /** `t` must not decrease. */
  push(t: number, sample: Telemetry): void {
    const slot = this.#count % this.#capacity;
    this.#t[slot] = t;
    for (const unit of UNIT_LIST) {
      for (const loop of unit.loops) {
        const reading = sample[unit.name]?.[loop.name];
        for (const series of SERIES) {
          const column = this.#values.get(keyOf(unit.name, loop.name, series));
          if (column !== undefined) column[slot] = isReading(reading) ? reading[series] : Number.NaN;
        }
      }
    }
    this.#count += 1;
  }

  /** A moment without values, so that plots draw no line across a break. */
  pushGap(t: number): void {
    this.push(t, { t, gimbal: null, chassis: null });
  }

  /** Fills `into` with the samples between the two times, and one more at each end. */
  read(unit: UnitName, loop: string, fromT: number, toT: number, into: Columns): void {
    const start = Math.max(this.#first, this.#indexOf(fromT) - 1);
    const end = Math.min(this.#count, this.#indexOf(toT) + 1);
    const length = Math.max(0, end - start);
    into.t.length = length;
    for (let index = 0; index < length; index += 1) into.t[index] = this.#at(start + index);
    for (const series of SERIES) {
      const column = this.#values.get(keyOf(unit, loop, series));
      const target = into[series];
      target.length = length;
      for (let index = 0; index < length; index += 1) {
        const value = column?.[(start + index) % this.#capacity] ?? Number.NaN;
        target[index] = Number.isNaN(value) ? null : value;
      }
    }
  }

  get #first(): number {
    return Math.max(0, this.#count - this.#capacity);
  }

  #at(index: number): number {
    return this.#t[index % this.#capacity] ?? Number.NaN;
  }

  /** The index of the first sample that is not before `t`. */
  #indexOf(t: number): number {
    let low = this.#first;
    let high = this.#count;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#at(middle) < t) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function keyOf(unit: UnitName, loop: string, series: Series): string {
  return `${unit}/${loop}/${series}`;
}
