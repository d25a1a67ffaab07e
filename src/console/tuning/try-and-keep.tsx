import type { GainEdits } from '../model/gain-edits.js';
import { useModel } from '../parts/console.js';
import { Press } from '../parts/press.js';

const KEYS = {
  try: { 'aria-keyshortcuts': 'Enter', 'data-key': '⏎' },
  keep: { 'aria-keyshortcuts': 'Control+Enter', 'data-key': 'Ctrl ⏎' },
} as const;

interface TryAndKeepProps {
  readonly gains: GainEdits;
  readonly onTry: () => unknown;
  readonly onKeep: () => unknown;
  readonly disabled?: boolean;
  /** How many changes would be kept, where that is not plain to see. */
  readonly changes?: string;
  /** The page's keys do the same. */
  readonly isByKey?: boolean;
}

/** Gains that are not in force: run them for a while, or save them. */
export function TryAndKeep({
  gains,
  onTry,
  onKeep,
  disabled = false,
  changes = '',
  isByKey = false,
}: TryAndKeepProps) {
  const model = useModel();
  const isOff = disabled || !model.may('tune');
  return (
    <>
      <Press
        action={gains.trial.action}
        what="try"
        run={onTry}
        disabled={isOff || model.isStopping}
        title="Runs them without saving them, for as long as this page asks"
        {...(isByKey && KEYS.try)}
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
        {...(isByKey && KEYS.keep)}
      >
        Keep{changes}
      </Press>
    </>
  );
}
