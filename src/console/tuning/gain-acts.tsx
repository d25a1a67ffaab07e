import type { GainEdits } from '../model/gain-edits.js';
import { Press } from '../parts/press.js';
import { TryAndKeep } from './try-and-keep.js';

/** What is done with the edits of one unit: run them for a while, save them, or take them back. */
export function GainActs({ gains }: { readonly gains: GainEdits }) {
  const { changes, faults } = gains.edits.value;
  const tries = gains.trial.id.value !== undefined;
  const count = changes.length;
  const changesText = count === 1 ? ' 1 change' : ` ${count} changes`;
  return (
    <div class="acts">
      <TryAndKeep
        gains={gains}
        onTry={() => gains.try()}
        onKeep={() => gains.save()}
        disabled={!gains.isReady}
        changes={count === 0 ? '' : changesText}
        isByKey
      />
      <Press
        action={gains.trial.action}
        what="undo"
        run={() => gains.undo()}
        disabled={(count === 0 && Object.keys(faults).length === 0 && !tries) || gains.isSaving}
        aria-keyshortcuts="Control+Z"
        data-key="Ctrl Z"
        title="Ends what is tried, and takes the edits back"
      >
        Undo
      </Press>
    </div>
  );
}
