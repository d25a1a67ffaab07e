import { keyOf, loopOf } from '../model/loop-choice.js';
import { useConsole } from '../parts/console.js';
import { fetchParts } from '../parts/later.js';
import { ExcitationForm } from './excitation-form.js';
import { FigureTable } from './figure-table.js';
import { StepChart } from './step-chart.js';

/** Excites the chosen loop in debug mode, and shows its newest step over the one of the gains before. */
export function StepPanel() {
  const { model } = useConsole();
  const pair = model.steps.value.get(keyOf(model.choice.value));
  return (
    <section class="card step" aria-label="Step response">
      <header>
        <h2>Step response</h2>
        <ExcitationForm />
        {pair !== undefined && (
          <button type="button" onClick={() => void fetchParts().then(parts => parts?.saveStep(pair))}>
            CSV
          </button>
        )}
      </header>
      <div class="result" hidden={pair === undefined}>
        <StepChart pair={pair} />
        {pair !== undefined && <FigureTable pair={pair} quantity={loopOf(model.choice.value).quantity} />}
      </div>
    </section>
  );
}
