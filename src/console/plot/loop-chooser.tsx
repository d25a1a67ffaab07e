import { type Signal, useSignal } from '@preact/signals';
import { UNIT_LIST } from '../../core/units.js';
import { keyOf, type LoopChoice } from '../model/loop-choice.js';
import { useConsole } from '../parts/console.js';

/** Beside the chosen one. */
const MOST_STACKED = 3;

/** One press for each loop; the excited one pulses. "Stack" lets presses add loops below the chosen one. */
export function LoopChooser({ stacked }: { readonly stacked: Signal<readonly LoopChoice[]> }) {
  const { model } = useConsole();
  const stacks = useSignal(false);
  const chosen = keyOf(model.choice.value);
  const isStacked = (choice: LoopChoice) => stacked.value.some(one => keyOf(one) === keyOf(choice));
  const press = (choice: LoopChoice) => {
    if (!stacks.value) model.choice.value = choice;
    else if (isStacked(choice)) stacked.value = stacked.value.filter(one => keyOf(one) !== keyOf(choice));
    else if (keyOf(choice) !== chosen) stacked.value = [...stacked.value, choice].slice(-MOST_STACKED);
  };
  return (
    <div class="loop-chooser">
      {UNIT_LIST.map(({ name: unit, title, loops }) => (
        <fieldset class="chips" aria-label={`Plotted loop of the ${title.toLowerCase()}`} key={unit}>
          <span class="unit-name">{title}</span>
          {loops.map(({ name: loop, title }) => {
            const choice = { unit, loop };
            return (
              <button
                type="button"
                key={loop}
                aria-pressed={keyOf(choice) === chosen || isStacked(choice)}
                data-stacked={(keyOf(choice) !== chosen && isStacked(choice)) || undefined}
                data-excited={model.waveOf(unit)?.loop === loop || undefined}
                onClick={() => press(choice)}
              >
                {title}
              </button>
            );
          })}
        </fieldset>
      ))}
      <button
        type="button"
        class="stack"
        aria-pressed={stacks.value}
        title="Shows up to four loops below one another"
        onClick={() => {
          stacks.value = !stacks.value;
          if (!stacks.value) stacked.value = [];
        }}
      >
        Stack
      </button>
    </div>
  );
}
