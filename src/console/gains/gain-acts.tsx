import { useRef } from 'preact/hooks';
import type { GainEdits } from '../model/gain-edits.js';
import { Press, useModel } from '../parts/parts.js';

/** The buttons that try and keep gains. */
export const TRY = {
  text: 'Try',
  needs: 'tune',
  title: 'Runs the edited gains without saving them, as long as this page is open',
  'aria-keyshortcuts': 'Enter',
  'data-key': '⏎',
} as const;
export const KEEP = {
  needs: 'tune',
  class: 'primary',
  title: 'Saves them',
  'aria-keyshortcuts': 'Control+Enter',
  'data-key': 'Ctrl ⏎',
} as const;

/** Buttons for the edits of one unit: try, save or discard them. */
export function GainActs({ gains }: { readonly gains: GainEdits }) {
  const model = useModel();
  const { changes, faults } = gains.edits.value;
  /** The buttons appear with the first edit. They stay afterwards, because a focused button must not disappear. */
  const isShown = useRef(false);
  const count = changes.length;
  const isEdited = count > 0 || Object.keys(faults).length > 0;
  isShown.current ||= isEdited || gains.trial.id !== undefined;
  if (!isShown.current || !model.access.hasRight('tune')) return null;
  const asked = gains.doubts.question?.act;
  const changesText = count === 0 ? '' : count === 1 ? ' 1 change' : ` ${count} changes`;
  return (
    <div class="row">
      <Press
        {...TRY}
        run={() => gains.try()}
        pressed={asked === 'Try' || undefined}
        disabled={!gains.isReady || !model.mayMove}
      />
      <Press
        text={`Keep${changesText}`}
        {...KEEP}
        run={() => gains.save()}
        pressed={asked === 'Keep' || undefined}
        disabled={!gains.isReady || gains.conflict.value.length > 0}
      />
      <Press
        text="Discard"
        run={() => gains.undo()}
        disabled={(!isEdited && gains.trial.id === undefined) || gains.isSaving}
        aria-keyshortcuts="Control+Z"
        data-key="Ctrl Z"
        title="Ends the trial, and discards the edits"
      />
    </div>
  );
}

/** Below Keep: what this page's last save did, and the way back, until another revision is in force. */
export function SavedNote({ gains }: { readonly gains: GainEdits }) {
  const { isSaving, lastSave } = gains;
  if (lastSave === undefined && !isSaving) return null;
  return (
    <p class="row" role="status">
      <span class="outcome">{isSaving ? 'Saving…' : lastSave?.text}</span>
      <Press
        text="Undo"
        needs="tune"
        run={() => gains.undoSave()}
        disabled={lastSave === undefined || isSaving}
      />
    </p>
  );
}
