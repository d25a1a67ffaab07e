import type { GainEdits } from '../model/gain-edits.js';
import { Press, useModel } from '../parts/parts.js';

interface TryAndKeepProps {
  readonly gains: GainEdits;
  readonly onTry: () => unknown;
  readonly onKeep: () => unknown;
  readonly disabled?: boolean;
  /** The number of changes, as part of the button's text. */
  readonly changes?: string;
  /** The page's keys do the same. */
  readonly isByKey?: boolean;
}

/** Buttons that try or save gains. */
export function TryAndKeep(props: TryAndKeepProps) {
  const { gains, onTry, onKeep, disabled = false, changes = '', isByKey = false } = props;
  const model = useModel();
  const isOff = disabled || !model.may('tune');
  return (
    <>
      <Press
        action={gains.trial.action}
        what="try"
        run={onTry}
        disabled={isOff || model.isStopping}
        title="Runs them without saving them, as long as this page is open"
        {...(isByKey && { 'aria-keyshortcuts': 'Enter', 'data-key': '⏎' })}
      >
        Try
      </Press>
      <Press
        action={gains.saving}
        what="save"
        class="primary"
        run={onKeep}
        disabled={isOff}
        title="Saves them"
        {...(isByKey && { 'aria-keyshortcuts': 'Control+Enter', 'data-key': 'Ctrl ⏎' })}
      >
        Keep{changes}
      </Press>
    </>
  );
}

/** Buttons for the edits of one unit: try, save or undo them. */
export function GainActs({ gains }: { readonly gains: GainEdits }) {
  const { changes, faults } = gains.edits.value;
  const count = changes.length;
  const isEdited = count > 0 || Object.keys(faults).length > 0;
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
        disabled={(!isEdited && gains.trial.id.value === undefined) || gains.isSaving}
        aria-keyshortcuts="Control+Z"
        data-key="Ctrl Z"
        title="Ends what is tried, and takes the edits back"
      >
        Undo
      </Press>
    </div>
  );
}
