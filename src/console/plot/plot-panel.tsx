import { type Signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { keyOf, type LoopChoice } from '../model/loop-choice.js';
import { useModel } from '../parts/console.js';
import { LoopChooser } from './loop-chooser.js';
import { LoopPlot } from './loop-plot.js';
import { PlotSettings } from './plot-settings.js';
import { saveTelemetry } from './telemetry-csv.js';

const SPANS_S = [5, 15, 60, 120];

/** The chosen loop over time, and up to three others below it on the same axis. */
export function PlotPanel() {
  const model = useModel();
  const settings = useMemo(() => new PlotSettings(), []);
  const stacks = useSignal(false);
  const stacked = useSignal<readonly LoopChoice[]>([]);
  const { view } = settings;
  const choice = model.choice.value;
  const others = stacks.value ? stacked.value.filter(other => keyOf(other) !== keyOf(choice)) : [];
  const toggle = (text: string, setting: Signal<boolean>, title: string) => (
    <button
      type="button"
      title={title}
      aria-pressed={setting.value}
      onClick={() => {
        setting.value = !setting.value;
      }}
    >
      {text}
    </button>
  );
  return (
    <section class="card plot" aria-label="Plot" data-stacked={others.length > 0 || undefined}>
      <LoopChooser stacked={stacks.value ? stacked : undefined} />
      {[choice, ...others].map(one => (
        <LoopPlot key={keyOf(one)} choice={one} settings={settings} />
      ))}
      <div class="toolbar">
        <p class="hint">Drag or wheel zooms, a press picks.</p>
        <span class="spring" />
        <div class="segments">
          {SPANS_S.map(seconds => (
            <button
              type="button"
              key={seconds}
              aria-pressed={seconds === view.spanS.value}
              onClick={() => view.span(seconds)}
            >
              {seconds} s
            </button>
          ))}
        </div>
        {view.isHeld && (
          <>
            <button type="button" aria-label="Back" onClick={() => view.pan(-0.5)}>
              ◀
            </button>
            <button type="button" aria-label="Forth" onClick={() => view.pan(0.5)}>
              ▶
            </button>
          </>
        )}
        <button
          type="button"
          aria-pressed={view.isHeld}
          onClick={() => (view.isHeld ? view.goOn() : view.pause())}
        >
          {view.isHeld ? 'Go on' : 'Pause'}
        </button>
        {toggle('Stack', stacks, 'Shows up to four loops below one another: choose them')}
        {toggle('Zero', settings.keepsZero, 'Keeps 0 in sight')}
        {toggle('Lock y', settings.locksY, 'Keeps the values of the axis as they are')}
        {toggle('Output', settings.showsOutput, 'Shows what the loop puts out')}
        <button type="button" onClick={() => saveTelemetry(model, choice, settings)}>
          CSV
        </button>
      </div>
    </section>
  );
}
