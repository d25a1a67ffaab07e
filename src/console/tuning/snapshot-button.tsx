import { useSignal } from '@preact/signals';
import { UNIT_LIST } from '../../core/units.js';
import { difference } from '../model/edits.js';
import { useAction, useModel } from '../parts/console.js';
import { Outcome } from '../parts/outcome.js';
import { SnapshotQuestion } from './snapshot-question.js';

/** When this page was opened. */
const OPENED_AT = new Date();

/** Brings back the gains of when the page was opened, once it has shown what that changes. */
export function SnapshotButton() {
  const model = useModel();
  const asks = useSignal(false);
  const act = useAction('Snapshot');
  const changed = UNIT_LIST.flatMap(unit => {
    const gains = model.gains[unit.name];
    const [stored, snapshot] = [gains.stored.value?.gains, gains.snapshot.value];
    if (stored === undefined || snapshot === undefined) return [];
    const changes = difference(unit, stored, snapshot);
    return changes.length === 0 ? [] : [{ gains, snapshot, changes }];
  });
  return (
    <>
      <button
        type="button"
        disabled={changed.length === 0}
        aria-expanded={asks.value}
        onClick={() => {
          asks.value = !asks.value;
        }}
      >
        Back to snapshot
      </button>
      {asks.value && changed.length > 0 && (
        <SnapshotQuestion
          changed={changed}
          openedAt={OPENED_AT}
          action={act}
          onAnswer={() => {
            asks.value = false;
          }}
        />
      )}
      <Outcome action={act} />
    </>
  );
}
