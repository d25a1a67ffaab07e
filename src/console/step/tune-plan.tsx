import { LONGEST_TUNING_S, STYLES, TUNING_PART } from '../../core/tuning-terms.js';
import { type Loop, unitNamed } from '../../core/units.js';
import { loopOf } from '../model/loop-choice.js';
import { Outcome, Press, Segments, useModel } from '../parts/parts.js';

/** Says before a tuning which loops it moves, how far, and for how long. */
export function TunePlan({ onBegin }: { readonly onBegin: () => void }) {
  const model = useModel();
  const { tuning } = model;
  const choice = model.choice.value;
  const loop = loopOf(choice);
  const unit = unitNamed(choice.unit);
  const name = unit.title.toLowerCase();
  const disabled = !model.may('drive') || tuning.running !== undefined;
  const begin = async (act: () => Promise<unknown>) => {
    onBegin();
    await act();
  };
  return (
    <fieldset class="question" aria-label="Tune">
      <p>
        <strong>{loop.title}</strong> {moves(loop)}
        {model.status.value?.[unit.name].mode !== 'debug' && ` The ${name} is put in debug mode first.`} The
        laser goes dark. The tuning ends with this page, with a stop, or by End; it proposes gains and saves
        none.
      </p>
      <div class="toolbar acts">
        <Segments options={STYLES} chosen={tuning.style} />
        <Press
          needs="tune"
          moves
          class="primary"
          disabled={disabled}
          run={() => begin(() => tuning.begin(unit.name, [loop.name]))}
        >
          Tune {loop.title}
        </Press>
        <Press
          needs="tune"
          moves
          disabled={disabled}
          run={() =>
            begin(() =>
              tuning.begin(
                unit.name,
                unit.loops.map(({ name }) => name),
              ),
            )
          }
          title="From the inside out. Better gains of inner loops run unsaved while the outer loops are tuned."
        >
          Tune all {unit.loops.length}
        </Press>
      </div>
      <Outcome action={tuning.action} />
    </fieldset>
  );
}

function moves({ maxAmplitude, quantity, excitationPeriodS, runaway }: Loop): string {
  const far = Number((TUNING_PART * maxAmplitude).toPrecision(2));
  return (
    `moves ±${far} ${quantity} around its present value, in jumps every ${excitationPeriodS / 2} s, for at most ` +
    `${LONGEST_TUNING_S} s. If it is off by more than ${runaway} ${quantity}, the test steps end.`
  );
}
