import { signal } from '@preact/signals';

/** A paused part of the telemetry, in seconds. `zeroT` is where the axis reads 0. */
interface Held {
  readonly fromT: number;
  readonly toT: number;
  readonly zeroT: number;
}

/** The part of the telemetry that a plot shows: the newest seconds, or a fixed part while it is paused. */
export class PlotWindow {
  /** The width in seconds while the plot is not paused. */
  readonly spanS = signal(15);
  readonly #held = signal<Held | undefined>(undefined);
  #newestT = 0;

  get isHeld(): boolean {
    return this.#held.value !== undefined;
  }

  /** The time at which the axis reads 0: now, or when the plot was paused. */
  get zeroT(): number {
    return this.#held.value?.zeroT ?? this.#newestT;
  }

  get range(): [number, number] {
    const held = this.#held.value;
    return held === undefined ? [this.#newestT - this.spanS.value, this.#newestT] : [held.fromT, held.toT];
  }

  runTo(newestT: number): void {
    this.#newestT = newestT;
  }

  pause(): void {
    this.zoom(...this.range);
  }

  unpause(): void {
    this.#held.value = undefined;
  }

  /** Changes the width and keeps the right edge. */
  span(seconds: number): void {
    this.spanS.value = seconds;
    if (this.isHeld) this.zoom(this.range[1] - seconds, this.range[1]);
  }

  zoom(fromT: number, toT: number): void {
    this.#held.value = { fromT, toT, zeroT: this.zeroT };
  }

  /**
   * Zooms around `t`. A factor below 1 zooms in. The width is at least 0.1 s (a few samples) and at most 160
   * s.
   */
  zoomAround(t: number, factor: number): void {
    const [fromT, toT] = this.range;
    const span = Math.min(Math.max((toT - fromT) * factor, 0.1), 160);
    const start = t - ((t - fromT) / (toT - fromT)) * span;
    const end = Math.min(start + span, this.zeroT);
    this.zoom(end - span, end);
  }

  /** Moves by `part` times the width. -0.5 moves back by half of it. */
  pan(part: number): void {
    const [fromT, toT] = this.range;
    const byS = Math.min((toT - fromT) * part, this.zeroT - toT);
    this.zoom(fromT + byS, toT + byS);
  }
}

/** The state that all plots of the panel share. */
export class PlotSettings {
  readonly view = new PlotWindow();
  readonly showsOutput = signal(false);
  readonly showsRetries = signal(false);
  readonly keepsZero = signal(true);
  readonly locksY = signal(false);
  /** At most two picked moments. The page measures between them. */
  readonly picks = signal<readonly number[]>([]);

  pick(t: number): void {
    const picks = this.picks.value;
    this.picks.value = picks.length >= 2 ? [] : [...picks, t];
  }

  reset(): void {
    this.picks.value = [];
    this.view.unpause();
  }
}
