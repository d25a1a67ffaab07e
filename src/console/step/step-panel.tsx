import { useSignal } from '@preact/signals';
import { loopOf } from '../model/loop-choice.js';
import { useConsole } from '../parts/console.js';
import { fetchParts, Later } from '../parts/later.js';
import { Outcome } from '../parts/outcome.js';
import { ExcitationForm } from './excitation-form.js';
import { StepChart } from './step-chart.js';

/** Excites or tunes the chosen loop, and shows its steps over those of other gains. */
export function StepPanel() {
  const { model } = useConsole();
  const plans = useSignal(false);
  const choice = model.choice.value;
  const { quantity } = loopOf(choice);
  const { main, under } = model.runs;
  const { ended, act, isUnderWay } = model.tuning;
  const isTuned = Boolean(model.tuned.value ?? ended.value[0]);
  return (
    <section class="card step" aria-label="Step response">
      <header>
        <h2>Step response</h2>
        <ExcitationForm />
        <span class="acts">
          <button
            type="button"
            aria-expanded={plans.value}
            onClick={() => {
              plans.value = !plans.value;
            }}
          >
            Tune…
          </button>
          {main !== undefined && (
            <button
              type="button"
              onClick={() => void fetchParts().then(parts => parts?.saveStep(choice, main))}
            >
              CSV
            </button>
          )}
        </span>
      </header>
      {plans.value && (
        <Later>
          {({ TunePlan }) => (
            <TunePlan
              onBegin={() => {
                plans.value = false;
              }}
            />
          )}
        </Later>
      )}
      <section class="tune" aria-label="Tuning">
        {!isUnderWay && <Outcome act={act} />}
        {isTuned && <Later>{({ TuneReport }) => <TuneReport />}</Later>}
      </section>
      <div class="result" hidden={main === undefined}>
        <StepChart main={main} under={under} quantity={quantity} predicted={model.runs.proposal?.predicted} />
        {main !== undefined && (
          <Later>
            {({ FigureTable }) => <FigureTable current={main} previous={under.at(-1)} quantity={quantity} />}
          </Later>
        )}
      </div>
      {model.runs.list.value.length > 0 && <Later>{({ RunTable }) => <RunTable />}</Later>}
    </section>
  );
}
