import { useSignal } from '@preact/signals';
import { perUnit, UNIT_LIST, type Unit, type UnitName } from '../../core/units.js';
import type { UnitStatus } from '../../schemas/status.js';
import { changeText, fieldsOf, GAIN_NAMES, isDrastic } from '../model/edits.js';
import type { GainEdits } from '../model/gain-edits.js';
import { keyOf } from '../model/loop-choice.js';
import type { Model } from '../model/model.js';
import { clockText, type StepSize } from '../model/numbers.js';
import { Drawer, Outcome, Press, Toggle, useAction, useModel } from '../parts/parts.js';
import { Profiles } from '../profiles/profiles.js';
import { GainActs, SavedNote } from './gain-acts.js';
import { GainField } from './gain-field.js';
import { GainsFile } from './gains-file.js';
import { Revisions } from './revisions.js';

/** The gains of both units, and the buttons for all of them. */
export function GainsPanel() {
  const model = useModel();
  const isFine = useSignal(false);
  return (
    <div class="gains-panel">
      {UNIT_LIST.map(unit => (
        <UnitCard key={unit.name} unit={unit} size={isFine.value ? 'fine' : 'usual'} />
      ))}
      <div class="row" hidden={!model.access.hasRight('tune')}>
        <Toggle
          text="Fine steps"
          on={isFine}
          title="Changes gains by a tenth of a step. The Alt key does the same once. The Shift key makes a step ten times as large."
        />
        <Opening />
        <Drawer title="Files">
          <GainsFile />
        </Drawer>
      </div>
    </div>
  );
}

/** A button that makes edits of the gains that were in force when the page was opened. */
function Opening() {
  const model = useModel();
  const action = useAction();
  const { gimbal, chassis } = perUnit(({ name }) => model.gains[name].atOpening.value);
  const opened = clockText(model.openedAt.getTime(), model.openedAt);
  const edit = () =>
    gimbal && chassis && action.say(model.editAll({ gimbal, chassis }, `the opening at ${opened}`));
  return (
    <>
      <Press text="Gains at opening" run={edit} title={`The gains of ${opened}, when this page was opened`} />
      <Outcome action={action} />
    </>
  );
}

/** The gains of one unit: stored, edited and running. */
function UnitCard({ unit, size }: { readonly unit: Unit; readonly size: StepSize }) {
  const model = useModel();
  const gains = model.gains[unit.name];
  const fields = fieldsOf(unit);
  const chosen = keyOf(model.choice.value);
  const { changes, faults } = gains.edits.value;
  const { question } = gains.doubts;
  const faulty = Object.keys(faults).length > 0;
  return (
    <section
      class="card unit"
      aria-label={`${unit.title} gains`}
      data-chosen={model.choice.value.unit === unit.name || undefined}
    >
      <header>
        <h2>{unit.title}</h2>
        <Running unit={unit} />
      </header>
      <div>
        <div class="loop heads" aria-hidden="true">
          {['', ...GAIN_NAMES].map(text => (
            <span class="head dim" key={text}>
              {text}
            </span>
          ))}
        </div>
        {unit.loops.map(loop => {
          const choice = { unit: unit.name, loop: loop.name };
          const isChosen = keyOf(choice) === chosen;
          return (
            <div
              class="loop"
              key={loop.name}
              onFocusCapture={() => model.choose(choice)}
              data-chosen={isChosen || undefined}
              data-excited={model.excitationOf(unit.name)?.loop === loop.name || undefined}
            >
              <Press
                text={loop.title}
                class="loop-name"
                pressed={isChosen}
                run={() => model.choose(choice)}
              />
              {fields
                .filter(field => field.loop === loop.name)
                .map(field => (
                  <GainField key={field.gain} gains={gains} field={field} size={size} />
                ))}
            </div>
          );
        })}
      </div>
      <footer class="row">
        <GainActs gains={gains} />
        <ul class="changes">
          {changes.map(change => (
            <li key={change.field.pointer} data-drastic={isDrastic(unit, change) || undefined}>
              {changeText(unit, change)}
            </li>
          ))}
          {faulty && <li>Correct the marked fields to save.</li>}
        </ul>
        {question && (
          <p class="question" role="alert">
            Far from the saved gains: {question.about}. Press {question.act} again if you mean it.
          </p>
        )}
        <ConflictQuestion gains={gains} />
        <Outcome action={gains.saving} />
        <SavedNote gains={gains} />
        <Outcome action={gains.trial.action} />
      </footer>
      <div class="drawers row">
        <Drawer title="History">
          <Revisions gains={gains} />
        </Drawer>
        <Drawer title="Profiles">
          <Profiles gains={gains} />
        </Drawer>
      </div>
    </section>
  );
}

/** The gains in force, and whether the controller runs them. */
function Running({ unit: { name } }: { readonly unit: Unit }) {
  const model = useModel();
  const status = model.status.value?.[name];
  if (status === undefined) return null;
  const { revision, savedAt, profile } = status.gains;
  const from = profile === undefined ? '' : `, ${profile}`;
  const stored = savedAt === null ? 'Defaults' : `Revision ${revision}${from}, ${clockText(savedAt)}`;
  const [state, how] = runningState(model, name, status);
  return (
    <span class="running state dim" data-state={state} title={status.problem?.detail}>
      {stored} · {how}
    </span>
  );
}

function runningState(model: Model, name: UnitName, status: UnitStatus): [state: string, how: string] {
  const tune = model.autotune.running;
  const trial = model.trialOf(name);
  if (!model.fresh.value) return ['', 'unknown'];
  if (tune?.unit === name) return ['doing', `${model.autotune.ownerOf(tune)} is tuning`];
  if (trial !== undefined && trial.id === model.gains[name].trial.id)
    return ['doing', 'this page is trying others'];
  if (trial !== undefined) return ['bad', `not running: ${trial.by} tries others`];
  if (status.gains.applied) return ['good', 'running'];
  return ['bad', status.online ? 'not running yet' : 'not running: controller offline'];
}

/** Asks which gains to keep after another caller saved loops that are edited here. */
function ConflictQuestion({ gains }: { readonly gains: GainEdits }) {
  const model = useModel();
  const { unit, conflict } = gains;
  if (conflict.value.length === 0) return null;
  const saver = model.log.saverOf(unit.name, gains.stored.value?.revision ?? 0) ?? 'somebody else';
  return (
    <fieldset class="question" aria-label="Saved meanwhile">
      Saved by {saver} meanwhile: {conflict.value.map(change => changeText(unit, change)).join('; ')}
      <span class="row">
        <Press text="Use theirs" run={() => gains.decide('theirs')} />
        <Press text="Save mine" needs="tune" class="primary" run={() => gains.decide('mine')} />
      </span>
    </fieldset>
  );
}
