import { useRef } from 'preact/hooks';
import type { GainEdits } from '../model/gain-edits.js';
import { Press, useModel } from '../parts/parts.js';

interface GainActProps {
  readonly run: () => unknown;
  readonly disabled?: boolean;
  /** Appended to the button's text. */
  readonly changes?: string;
}

export function TryButton({ run, disabled = false }: GainActProps) {
  const { isStopping } = useModel();
  return (
    <Press
      needs="tune"
      run={run}
      disabled={disabled || isStopping}
      title="Runs them without saving them, as long as this page is open"
      aria-keyshortcuts="Enter"
      data-key="⏎"
    >
      Try
    </Press>
  );
}

export function KeepButton({ run, disabled = false, changes = '' }: GainActProps) {
  return (
    <Press
      needs="tune"
      class="primary"
      run={run}
      disabled={disabled}
      title="Saves them"
      aria-keyshortcuts="Control+Enter"
      data-key="Ctrl ⏎"
    >
      Keep{changes}
    </Press>
  );
}

/** Buttons for the edits of one unit: try, save or undo them. */
export function GainActs({ gains }: { readonly gains: GainEdits }) {
  const model = useModel();
  const { changes, faults } = gains.edits.value;
  /** The buttons appear with the first edit. They stay afterwards, because a focused button must not disappear. */
  const isShown = useRef(false);
  const count = changes.length;
  const isEdited = count > 0 || Object.keys(faults).length > 0;
  isShown.current ||= isEdited || gains.trial.id !== undefined;
  if (!isShown.current || !model.access.hasRight('tune')) return null;
  const changesText = count === 0 ? '' : count === 1 ? ' 1 change' : ` ${count} changes`;
  return (
    <div class="row">
      <TryButton run={() => gains.try()} disabled={!gains.isReady} />
      <KeepButton run={() => gains.save()} disabled={!gains.isReady} changes={changesText} />
      <Press
        run={() => gains.undo()}
        disabled={(!isEdited && gains.trial.id === undefined) || gains.isSaving}
        aria-keyshortcuts="Control+Z"
        data-key="Ctrl Z"
        title="Ends what is tried, and takes the edits back"
      >
        Undo
      </Press>
    </div>
  );
}
