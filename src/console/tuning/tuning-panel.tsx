import { useSignal } from '@preact/signals';
import { UNIT_LIST } from '../../core/units.js';
import { changeText, difference } from '../model/edits.js';
import { clockText } from '../model/numbers.js';
import { Drawer, Outcome, Press, Toggle, useAction, useModel } from '../parts/parts.js';
import { GainsFile } from './gains-file.js';
import { UnitCard } from './unit-card.js';

/** The gains of both units, and the buttons for all of them. */
export function TuningPanel() {
  const model = useModel();
  const isFine = useSignal(false);
  return (
    <div class="tuning">
      {UNIT_LIST.map(unit => (
        <UnitCard key={unit.name} unit={unit} size={isFine.value ? 'fine' : 'usual'} />
      ))}
      <div class="toolbar" hidden={!model.access.hasRight('tune')}>
        <Toggle
          on={isFine}
          title="Steps of a tenth. Alt does the same for one step, Shift makes it ten times as large."
        >
          Fine steps
        </Toggle>
        <Snapshot />
        <Drawer title="Files">
          <GainsFile />
        </Drawer>
      </div>
    </div>
  );
}

/** Restores the gains that were in force when the page was opened, after showing what that changes. */
export function Snapshot() {
  const { gains, openedAt } = useModel();
  const asks = useSignal(false);
  const action = useAction();
  const changed = UNIT_LIST.flatMap(unit => {
    const { stored, snapshot } = gains[unit.name];
    if (stored.value === undefined || snapshot.value === undefined) return [];
    const changes = difference(unit, stored.value.gains, snapshot.value);
    return changes.length === 0 ? [] : [{ unit, snapshot: snapshot.value, changes }];
  });
  const opened = clockText(openedAt.toISOString(), openedAt);
  const bringBack = async () => {
    asks.value = false;
    for (const { unit, snapshot } of changed) {
      if (!(await gains[unit.name].saveSet(snapshot, `The gains of ${opened} are running.`))) return;
    }
    action.say('The gains of when this page was opened are running.');
  };
  return (
    <>
      <Toggle on={asks} opens disabled={changed.length === 0}>
        Back to snapshot
      </Toggle>
      {asks.value && changed.length > 0 && (
        <fieldset class="question" aria-label="Back to snapshot">
          <p>This saves the gains of {opened}, when this page was opened:</p>
          <ul class="changes">
            {changed.map(({ unit, changes }) => (
              <li key={unit.name}>{changes.map(change => changeText(unit, change)).join('; ')}</li>
            ))}
          </ul>
          <Press class="primary" run={bringBack}>
            Save these
          </Press>
        </fieldset>
      )}
      <Outcome action={action} />
    </>
  );
}
