import { useSignal } from '@preact/signals';
import { UNIT_LIST } from '../../core/units.js';
import { changeText, difference } from '../model/edits.js';
import { clockText } from '../model/numbers.js';
import { Outcome, Press, Toggle, useAction, useModel } from '../parts/parts.js';

/** Brings back the gains that were in force when the page was opened, after it has shown what that changes. */
export function Snapshot() {
  const { gains, openedAt } = useModel();
  const asks = useSignal(false);
  const action = useAction('Snapshot');
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
