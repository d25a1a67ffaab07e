import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { UNIT_LIST } from '../../core/units.js';
import { changeText, difference } from '../model/edits.js';
import { clockText } from '../model/numbers.js';
import { Act } from '../parts/act.js';
import { useConsole } from '../parts/console.js';
import { Outcome } from '../parts/outcome.js';

/** Brings back the gains of when the page was opened, once it has shown what that changes. */
export function SnapshotButton() {
  const { model } = useConsole();
  const asks = useSignal(false);
  const act = useMemo(() => new Act('Snapshot'), []);
  const units = UNIT_LIST.flatMap(unit => {
    const gains = model.gains[unit.name];
    const [stored, snapshot] = [gains.stored.value?.gains, gains.snapshot.value];
    if (stored === undefined || snapshot === undefined) return [];
    const changes = difference(unit, stored, snapshot).map(change => changeText(unit, change));
    return changes.length === 0 ? [] : [{ unit, gains, snapshot, changes }];
  });
  const opened = clockText(model.openedAt.toISOString(), model.openedAt);

  async function bringBack() {
    asks.value = false;
    for (const { gains, snapshot } of units) {
      const done = `The gains of ${opened} are running.`;
      if (!(await gains.saveSet(snapshot, done))) return;
    }
    act.say('The gains of when this page was opened are running.');
  }

  return (
    <>
      <button
        type="button"
        disabled={units.length === 0}
        aria-expanded={asks.value}
        onClick={() => {
          asks.value = !asks.value;
        }}
      >
        Back to snapshot
      </button>
      {asks.value && units.length > 0 && (
        <fieldset class="question" aria-label="Back to snapshot">
          <p>This saves the gains of {opened}, when this page was opened:</p>
          <ul class="changes">
            {units.map(({ unit, changes }) => (
              <li key={unit.name}>{changes.join('; ')}</li>
            ))}
          </ul>
          <button type="button" class="primary" onClick={bringBack}>
            Save these
          </button>
        </fieldset>
      )}
      <Outcome act={act} />
    </>
  );
}
