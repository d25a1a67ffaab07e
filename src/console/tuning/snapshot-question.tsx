import type { GainSet } from '../../core/units.js';
import type { Action } from '../model/action.js';
import { type Change, changeText } from '../model/edits.js';
import type { GainEdits } from '../model/gain-edits.js';
import { clockText } from '../model/numbers.js';

interface SnapshotQuestionProps {
  /** The units whose stored gains are others than those of when the page was opened. */
  readonly changed: readonly {
    readonly gains: GainEdits;
    readonly snapshot: GainSet;
    readonly changes: readonly Change[];
  }[];
  readonly openedAt: Date;
  readonly action: Action;
  readonly onAnswer: () => void;
}

/** What to go back to the snapshot would change. */
export function SnapshotQuestion({ changed, openedAt, action, onAnswer }: SnapshotQuestionProps) {
  const opened = clockText(openedAt.toISOString(), openedAt);

  async function bringBack() {
    onAnswer();
    for (const { gains, snapshot } of changed) {
      if (!(await gains.saveSet(snapshot, `The gains of ${opened} are running.`))) return;
    }
    action.say('The gains of when this page was opened are running.');
  }

  return (
    <fieldset class="question" aria-label="Back to snapshot">
      <p>This saves the gains of {opened}, when this page was opened:</p>
      <ul class="changes">
        {changed.map(({ gains: { unit }, changes }) => (
          <li key={unit.name}>{changes.map(change => changeText(unit, change)).join('; ')}</li>
        ))}
      </ul>
      <button type="button" class="primary" onClick={bringBack}>
        Save these
      </button>
    </fieldset>
  );
}
