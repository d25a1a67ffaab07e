import { type Signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { unitNamed } from '../../core/units.js';
import { stepFile } from '../model/csv.js';
import { type LoopChoice, loopOf } from '../model/loop-choice.js';
import type { Model } from '../model/model.js';
import { parseGain } from '../model/numbers.js';
import { differInHeight, inPercent } from '../model/step-curve.js';
import { Outcome, offerCsv, Press, Toggle, typed, useModel, writes } from '../parts/parts.js';
import { TunePlan, TuneReport } from './autotune.js';
import { FigureTable, RunTable } from './run-tables.js';
import { StepChart } from './step-chart.js';

/** Excites or tunes the chosen loop, and shows its captured steps. */
export function StepPanel() {
  const model = useModel();
  const plans = useSignal(false);
  const choice = model.choice.value;
  const { quantity } = loopOf(choice);
  const { main, under } = model.runs;
  const isPercent = main !== undefined && differInHeight([main, ...under.map(run => run.step)]);
  const shown = isPercent ? inPercent(main) : main;
  const others = isPercent ? under.map(run => ({ ...run, step: inPercent(run.step) })) : under;
  const unit = isPercent ? '%' : quantity;
  const { action, running } = model.autotune;
  const tuned = model.tuned.value;
  const drives = model.access.hasRight('drive');
  if (!drives && model.runs.list.value.length === 0) return null;
  return (
    <section class="card step" aria-label="Step response">
      <header>
        <h2>Step response</h2>
        {drives && <ExcitationForm />}
        <span class="row">
          {model.access.hasRight('tune') && drives && <Toggle text="Tune…" on={plans} opens />}
          {main !== undefined && <Press text="CSV" run={() => offerCsv(stepFile(choice, main))} />}
        </span>
      </header>
      {plans.value && <TunePlan onBegin={writes(plans, false)} />}
      <section class="tune row" aria-label="Tuning">
        {running === undefined && <Outcome action={action} />}
        {tuned && model.access.hasRight('tune') && <TuneReport tune={tuned} />}
      </section>
      <div class="result" hidden={main === undefined}>
        <StepChart
          main={shown}
          under={others}
          quantity={unit}
          predicted={isPercent ? undefined : model.runs.proposal?.predicted}
        />
        {shown !== undefined && <FigureTable current={shown} previous={others.at(-1)} quantity={unit} />}
      </div>
      {model.runs.list.value.length > 0 && <RunTable />}
    </section>
  );
}

/** Amplitude and period of the excitation, and its buttons. */
function ExcitationForm() {
  const model = useModel();
  const choice = model.choice.value;
  const { quantity, maxAmplitude, excitationPeriodS } = loopOf(choice);
  const amplitude = useSignal('');
  const period = useSignal('');
  useEffect(() => {
    amplitude.value = String(maxAmplitude / 4);
    period.value = String(excitationPeriodS);
  }, [choice]);
  const isTuned = model.autotune.running?.unit === choice.unit;
  const excitation = isTuned ? undefined : model.excitationOf(choice.unit);
  const isExcited = excitation?.loop === choice.loop;
  // Shows the steps that run, even if they were begun elsewhere.
  useEffect(() => {
    if (!isExcited) return;
    amplitude.value = String(excitation.amplitude);
    period.value = String(excitation.periodS);
  }, [choice, isExcited, excitation?.amplitude, excitation?.periodS]);
  const act = model.exciting[choice.unit];
  const status = model.status.value?.[choice.unit];
  const debugging =
    status?.mode === 'debug' && status.online && !model.isStopping && model.may('drive') && !isTuned;
  const numberField = (label: string, name: string, text: Signal<string>) => (
    <label class="dim">
      {label}
      <input
        {...typed(text)}
        class="value"
        inputMode="decimal"
        autocomplete="off"
        aria-label={name}
        disabled={!debugging}
      />
    </label>
  );
  const excite = () => model.excite(choice, numberIn(amplitude.value), numberIn(period.value));
  return (
    <fieldset class="group excitation" aria-label="Test steps">
      <form class="row">
        {numberField(`± ${quantity}, to ${maxAmplitude}`, 'Amplitude', amplitude)}
        {numberField('Period, s', 'Period in seconds', period)}
        <span class="row">
          <Press
            text="Send test steps"
            type="submit"
            needs="drive"
            moves
            run={excite}
            class={excitation === undefined ? 'primary' : ''}
            disabled={!debugging}
          />
          <Press
            text="End"
            run={() => model.endExcitation(choice.unit)}
            disabled={excitation === undefined}
          />
        </span>
      </form>
      <p class="hint" role="status">
        {excitationHint(model, choice)}
      </p>
      <Outcome action={act} />
    </fieldset>
  );
}

/** Whether the loop gets test steps, and if it cannot get any, why not. */
function excitationHint(model: Model, choice: LoopChoice): string {
  const { title } = unitNamed(choice.unit);
  const status = model.status.value?.[choice.unit];
  const allowed = model.status.value?.match.allows.modes ?? [];
  if (!model.fresh.value) return 'The mode is not known.';
  if (model.stop.stopped) return 'The robot is stopped.';
  if (status?.online === false) return `${title} is offline.`;
  if (status?.mode !== 'debug' && !allowed.includes('debug')) return 'The match does not allow debug now.';
  if (status?.mode !== 'debug')
    return `Put the ${title.toLowerCase()} in debug to send test steps and capture them.`;
  if (model.autotune.running?.unit === choice.unit) return 'A tuning moves this unit.';
  return model.excitationOf(choice.unit)?.loop === choice.loop
    ? `${loopOf(choice).title} gets test steps. Each is captured.`
    : 'Nothing moves yet. Send test steps moves this loop and captures each step.';
}

/** Null if the text is not a number. The daemon then answers with an error text. */
function numberIn(text: string): number | null {
  const parsed = parseGain(text);
  return 'value' in parsed ? parsed.value : null;
}
