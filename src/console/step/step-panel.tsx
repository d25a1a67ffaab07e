import { csv } from '../model/csv.js';
import { keyOf, loopOf } from '../model/loop-choice.js';
import type { StepPair } from '../model/step-memory.js';
import { useConsole } from '../parts/console.js';
import { offerFile } from '../parts/offer-file.js';
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
          <button type="button" onClick={() => saveCsv(pair)}>
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

function saveCsv({ current: { step, gains, revision } }: StepPair): void {
  const { quantity } = loopOf(step);
  const { setpoint, measured } = step.samples;
  const name = `${step.unit}-${step.loop}-step-${step.number}-rev${revision}`;
  const { kp, ki, kd } = gains;
  const about = [`${step.unit} ${step.loop}`, `revision ${revision}`, `kp ${kp} ki ${ki} kd ${kd}`];
  const columns = [
    { name: 't_s', values: measured.map((_, index) => index * step.periodS) },
    { name: `setpoint_${quantity}`, values: setpoint },
    { name: `measured_${quantity}`, values: measured },
  ];
  offerFile(`${name}.csv`, 'text/csv', csv(columns, [...about, new Date().toISOString()]));
}
