import { signal } from '@preact/signals';
import { PlotWindow } from '../model/plot-window.js';

/** What all plots of the panel share. */
export class PlotSettings {
  readonly view = new PlotWindow(15);
  readonly showsOutput = signal(false);
  readonly keepsZero = signal(true);
  readonly locksY = signal(false);
  /** Moments that were picked, at most two: what lies between is measured. */
  readonly picks = signal<readonly number[]>([]);

  pick(t: number): void {
    const picks = this.picks.value;
    this.picks.value = picks.length >= 2 ? [] : [...picks, t];
  }
}
