import { UNIT_LIST } from '../../core/units.js';
import { keyOf } from '../model/loop-choice.js';
import { useConsole } from '../parts/console.js';

/** One press for each loop; the excited one pulses. */
export function LoopChooser() {
  const { model } = useConsole();
  const chosen = keyOf(model.choice.value);
  return (
    <div class="loop-chooser">
      {UNIT_LIST.map(({ name: unit, title, loops }) => (
        <fieldset class="chips" aria-label={`Plotted loop of the ${title.toLowerCase()}`} key={unit}>
          <span class="unit-name">{title}</span>
          {loops.map(({ name: loop, title }) => {
            const wave = model.status.value?.[unit].excitation;
            return (
              <button
                type="button"
                key={loop}
                aria-pressed={keyOf({ unit, loop }) === chosen}
                data-excited={(wave?.loop === loop && wave.amplitude !== 0) || undefined}
                onClick={() => {
                  model.choice.value = { unit, loop };
                }}
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
