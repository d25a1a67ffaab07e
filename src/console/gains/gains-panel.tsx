import { useSignal } from '@preact/signals';
import { perUnit, UNIT_LIST } from '../../core/units.js';
import { clockText } from '../model/numbers.js';
import { Drawer, Outcome, Press, Toggle, useAction, useModel } from '../parts/parts.js';
import { GainsFile } from './gains-file.js';
import { UnitCard } from './unit-card.js';

/** The gains of both units, and the buttons for all of them. */
export function GainsPanel() {
  const model = useModel();
  const isFine = useSignal(false);
  return (
    <div class="gains-panel">
      {UNIT_LIST.map(unit => (
        <UnitCard key={unit.name} unit={unit} size={isFine.value ? 'fine' : 'usual'} />
      ))}
      <div class="row" hidden={!model.access.hasRight('tune')}>
        <Toggle
          on={isFine}
          title="Changes gains by a tenth of a step. The Alt key does the same once. The Shift key makes a step ten times as large."
        >
          Fine steps
        </Toggle>
        <Opening />
        <Drawer title="Files">
          <GainsFile />
        </Drawer>
      </div>
    </div>
  );
}

/** A button that makes edits of the gains that were in force when the page was opened. */
function Opening() {
  const model = useModel();
  const action = useAction();
  const { gimbal, chassis } = perUnit(({ name }) => model.gains[name].atOpening.value);
  const opened = clockText(model.openedAt.toISOString(), model.openedAt);
  const edit = () =>
    gimbal && chassis && action.say(model.editAll({ gimbal, chassis }, `the opening at ${opened}`));
  return (
    <>
      <Press run={edit} title={`The gains of ${opened}, when this page was opened`}>
        Gains at opening
      </Press>
      <Outcome action={action} />
    </>
  );
}
