import { useSignal } from '@preact/signals';
import { loopOf } from '../model/loop-choice.js';
import { saveStep } from '../parts/csv.js';
import { Outcome, Toggle, useModel } from '../parts/parts.js';
import { ExcitationForm } from './excitation-form.js';
import { FigureTable } from './figure-table.js';
import { RunTable } from './run-table.js';
import { StepChart } from './step-chart.js';
import { TunePlan } from './tune-plan.js';
import { TuneReport } from './tune-report.js';

/** Excites or tunes the chosen loop, and shows its steps over those of other gains. */
export function StepPanel() {
  const model = useModel();
  const plans = useSignal(false);
  const choice = model.choice.value;
  const { quantity } = loopOf(choice);
  const { main, under } = model.runs;
  const { ended, action, isUnderWay } = model.tuning;
  const isTuned = Boolean(model.tuned.value ?? ended.value[0]);
  return (
    <section class="card step" aria-label="Step response">
      <header>
        <h2>Step response</h2>
        <ExcitationForm />
        <span class="acts">
          <Toggle on={plans} opens>
            Tune…
          </Toggle>
          {main !== undefined && (
            <button type="button" onClick={() => saveStep(choice, main)}>
              CSV
            </button>
          )}
        </span>
      </header>
      {plans.value && (
        <TunePlan
          onBegin={() => {
            plans.value = false;
          }}
        />
      )}
      <section class="tune" aria-label="Tuning">
        {!isUnderWay && <Outcome action={action} />}
        {isTuned && <TuneReport />}
      </section>
      <div class="result" hidden={main === undefined}>
        <StepChart main={main} under={under} quantity={quantity} predicted={model.runs.proposal?.predicted} />
        {main !== undefined && <FigureTable current={main} previous={under.at(-1)} quantity={quantity} />}
      </div>
      {model.runs.list.value.length > 0 && <RunTable />}
    </section>
  );
}
