import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { UNIT_LIST } from '../../core/units.js';
import type { Status } from '../../schemas/status.js';
import { telemetryFile } from '../model/csv.js';
import { keyOf, type LoopChoice } from '../model/loop-choice.js';
import { PlotSettings } from '../model/plot-window.js';
import { offerCsv, Press, Segments, Toggle, useEvery, useModel } from '../parts/parts.js';
import { LoopPlot } from './loop-plot.js';

const SPANS_S = [5, 15, 60, 120];
const RETRIES_EVERY_MS = 1000;

/** The chosen loop over time, with up to three other loops below it on the same axis. */
export function PlotPanel() {
  const model = useModel();
  const settings = useMemo(() => new PlotSettings(), []);
  const stacks = useSignal(false);
  const stacked = useSignal<readonly LoopChoice[]>([]);
  const { view, showsRetries } = settings;
  const toggles = [
    [stacks, 'More loops', 'Shows up to four loops of your choice below one another'],
    [settings.keepsZero, 'Show 0', 'Keeps 0 visible on the axis'],
    [settings.locksY, 'Hold scale', 'Keeps the range of the axis as it is'],
    [settings.showsOutput, 'Output', 'Shows the output of the loop'],
    [showsRetries, 'Bus retries', 'Shows the frames that the bus repeats in a second'],
  ] as const;
  useRetries(showsRetries.value);
  const choice = model.choice.value;
  const others = stacks.value ? stacked.value.filter(other => keyOf(other) !== keyOf(choice)) : [];
  return (
    <section class="card plot" aria-label="Plot" data-stacked={others.length > 0 || undefined}>
      <LoopChooser stacked={stacks.value ? stacked : undefined} />
      {[choice, ...others].map(one => (
        <LoopPlot key={keyOf(one)} choice={one} settings={settings} />
      ))}
      <div class="row">
        <Segments options={SPANS_S} chosen={view.spanS} onChoose={span => view.span(span)} unit=" s" />
        {view.isHeld && (
          <>
            <Press text="◀" aria-label="Back" run={() => view.pan(-0.5)} />
            <Press text="▶" aria-label="Forth" run={() => view.pan(0.5)} />
          </>
        )}
        <Press
          text={view.isHeld ? 'Go on' : 'Pause'}
          pressed={view.isHeld}
          run={() => (view.isHeld ? view.unpause() : view.pause())}
        />
        {toggles.map(([on, name, title]) => (
          <Toggle text={name} key={name} on={on} title={title} />
        ))}
        <Press text="CSV" run={() => offerCsv(telemetryFile(model, choice, settings))} />
      </div>
    </section>
  );
}

/** The stream does not tell each bus retry, so the page asks for their number while a plot shows them. */
function useRetries(isShown: boolean) {
  const { daemon, telemetry } = useModel();
  const ask = async () => {
    const status = await daemon.read<Status>('/api/status');
    if (status !== undefined) telemetry.heardRetries(status.bus.retries);
  };
  useEvery(RETRIES_EVERY_MS, ask, isShown);
  useEffect(() => () => telemetry.heardRetries(undefined), [isShown]);
}

/** The largest number of loops below the chosen one. */
const MOST_STACKED = 3;

/**
 * One button for each loop. A press chooses the loop; a phone shows the gains of the chosen loop only. If
 * `stacked` is given, a press adds the loop below the chosen one, or removes it there.
 */
function LoopChooser({ stacked }: { readonly stacked: Signal<readonly LoopChoice[]> | undefined }) {
  const model = useModel();
  const chosen = keyOf(model.choice.value);
  const isStacked = (choice: LoopChoice) =>
    keyOf(choice) !== chosen && stacked?.value.some(one => keyOf(one) === keyOf(choice)) === true;
  const press = (choice: LoopChoice) => {
    if (stacked === undefined) model.choose(choice);
    else if (isStacked(choice)) stacked.value = stacked.value.filter(one => keyOf(one) !== keyOf(choice));
    else if (keyOf(choice) !== chosen) stacked.value = [...stacked.value, choice].slice(-MOST_STACKED);
  };
  return (
    <div class="loop-chooser" data-stacks={stacked !== undefined || undefined}>
      {UNIT_LIST.map(({ name: unit, title, loops }) => (
        <fieldset class="chips row" aria-label={`Plotted loop of the ${title.toLowerCase()}`} key={unit}>
          <span class="unit-name dim">{title}</span>
          {loops.map(({ name: loop, title }) => {
            const choice = { unit, loop };
            return (
              <Press
                text={title}
                key={loop}
                pressed={keyOf(choice) === chosen || isStacked(choice)}
                data-excited={model.excitationOf(unit)?.loop === loop || undefined}
                run={() => press(choice)}
              />
            );
          })}
        </fieldset>
      ))}
    </div>
  );
}
