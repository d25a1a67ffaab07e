import { changeText } from '../model/edits.js';
import type { GainEdits } from '../model/gain-edits.js';
import { Press, useModel } from '../parts/parts.js';

/** Somebody else saved loops that are edited here: the person decides once whose gains stay. */
export function ConflictQuestion({ gains }: { readonly gains: GainEdits }) {
  const model = useModel();
  const { unit, conflict, saving } = gains;
  if (conflict.value.length === 0) return null;
  const saver = model.log.lastSaverOf(unit.name) ?? 'somebody else';
  return (
    <fieldset class="question" aria-label="Saved meanwhile">
      Saved by {saver} meanwhile: {conflict.value.map(change => changeText(unit, change)).join('; ')}
      <span class="acts">
        <Press action={saving} run={() => gains.decide('theirs')}>
          Use theirs
        </Press>
        <Press
          action={saving}
          what="save"
          class="primary"
          run={() => gains.decide('mine')}
          disabled={!model.may('tune')}
        >
          Save mine
        </Press>
      </span>
    </fieldset>
  );
}
