import type { Signal } from '@preact/signals';
import { UNIT_LIST } from '../../core/units.js';
import { keyOf, type LoopChoice } from '../model/loop-choice.js';
import { useModel } from '../parts/parts.js';

/** Beside the chosen one. */
const MOST_STACKED = 3;

interface LoopChooserProps {
  /** Below the chosen loop; where it is given, presses add loops to it. */
  readonly stacked: Signal<readonly LoopChoice[]> | undefined;
}

/** One press for each loop; the excited one pulses. */
export function LoopChooser({ stacked }: LoopChooserProps) {
  const model = useModel();
  const chosen = keyOf(model.choice.value);
  const isStacked = (choice: LoopChoice) =>
    keyOf(choice) !== chosen && stacked?.value.some(one => keyOf(one) === keyOf(choice)) === true;
  const press = (choice: LoopChoice) => {
    if (stacked === undefined) model.choice.value = choice;
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
                data-stacked={isStacked(choice) || undefined}
                data-excited={model.excitationOf(unit)?.loop === loop || undefined}
                onClick={() => press(choice)}
              >
                {title}
              </button>
            );
          })}
        </fieldset>
      ))}
    </div>
  );
}
