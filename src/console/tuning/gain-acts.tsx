import type { UnitGains } from '../model/unit-gains.js';
import { useConsole } from '../parts/console.js';
import { Press } from '../parts/press.js';

/** What is done with the edits of one unit: run them for a while, save them, or take them back. */
export function GainActs({ gains }: { readonly gains: UnitGains }) {
  const { model } = useConsole();
  const { changes, faults } = gains.edits.value;
  const tries = gains.trial.id.value !== undefined;
  const saving = gains.saving.pending.value !== undefined;
  const count = changes.length;
  const disabled = !gains.isReady || saving || !model.may('tune');
  const changesText = count === 1 ? '1 change' : `${count} changes`;
  return (
    <div class="acts">
      <Press
        act={gains.trial.act}
        what="try"
        run={() => gains.try()}
        disabled={disabled || model.isStopped}
        aria-keyshortcuts="Enter"
        data-key="⏎"
        title="Runs the edits without saving them, for as long as this page asks"
      >
        Try
      </Press>
      <Press
        act={gains.saving}
        what="save"
        class="primary"
        run={() => gains.save()}
        disabled={disabled}
        aria-keyshortcuts="Control+Enter"
        data-key="Ctrl ⏎"
        title="Saves the edits"
      >
        {count === 0 ? 'Keep' : `Keep ${changesText}`}
      </Press>
      <Press
        act={gains.trial.act}
        what="undo"
        run={() => gains.undo()}
        disabled={(count === 0 && Object.keys(faults).length === 0 && !tries) || saving}
        aria-keyshortcuts="Control+Z"
        data-key="Ctrl Z"
        title="Ends what is tried, and takes the edits back"
      >
        Undo
      </Press>
    </div>
  );
}
