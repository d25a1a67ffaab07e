/** What part of the telemetry a plot shows: the newest seconds, running along, or a part held for looking at. */
export class PlotWindow {
  /** Seconds across. */
  spanS: number;
  #newestT = 0;
  #held: { readonly fromT: number; readonly toT: number; readonly zeroT: number } | undefined;

  constructor(spanS: number) {
    this.spanS = spanS;
  }

  get isHeld(): boolean {
    return this.#held !== undefined;
  }

  /** Where the time axis reads 0: now, or when the plot was paused. */
  get zeroT(): number {
    return this.#held?.zeroT ?? this.#newestT;
  }

  get range(): [number, number] {
    if (this.#held !== undefined) return [this.#held.fromT, this.#held.toT];
    return [this.#newestT - this.spanS, this.#newestT];
  }

  runTo(newestT: number): void {
    this.#newestT = newestT;
  }

  pause(): void {
    const [fromT, toT] = this.range;
    this.#held = { fromT, toT, zeroT: this.zeroT };
  }

  goOn(): void {
    this.#held = undefined;
  }

  /** Around the newest that is shown. */
  span(seconds: number): void {
    this.spanS = seconds;
    if (this.#held !== undefined) this.#held = { ...this.#held, fromT: this.#held.toT - seconds };
  }

  zoom(fromT: number, toT: number): void {
    this.#held = { fromT, toT, zeroT: this.zeroT };
  }

  /** Around `t`, which stays where it is: a factor below 1 goes closer. No closer than a few samples, no wider than is kept. */
  zoomAround(t: number, factor: number): void {
    const [fromT, toT] = this.range;
    const span = Math.min(Math.max((toT - fromT) * factor, 0.1), 160);
    const start = t - ((t - fromT) / (toT - fromT)) * span;
    const end = Math.min(start + span, this.zeroT);
    this.zoom(end - span, end);
  }

  /** By part of what is shown: -0.5 goes half of it back. */
  pan(part: number): void {
    const [fromT, toT] = this.range;
    const byS = Math.min((toT - fromT) * part, this.zeroT - toT);
    this.#held = { fromT: fromT + byS, toT: toT + byS, zeroT: this.zeroT };
  }
}
