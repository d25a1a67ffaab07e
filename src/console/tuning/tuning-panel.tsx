import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { UNIT_LIST } from '../../core/units.js';
import { listenToTuningKeys } from '../parts/keys.js';
import { Drawer, Toggle, useModel } from '../parts/parts.js';
import { GainsFile } from './gains-file.js';
import { Snapshot } from './snapshot.js';
import { UnitCard } from './unit-card.js';

/** All gains, and what is done to all of them at once. */
export function TuningPanel() {
  const model = useModel();
  const isFine = useSignal(false);
  useEffect(() => listenToTuningKeys(model), []);
  return (
    <div class="tuning">
      {UNIT_LIST.map(unit => (
        <UnitCard key={unit.name} unit={unit} size={isFine.value ? 'fine' : 'usual'} />
      ))}
      <div class="toolbar">
        <Toggle
          on={isFine}
          title="Steps of a tenth. Alt does the same for one step, Shift makes it ten times as large."
        >
          Fine steps
        </Toggle>
        <Snapshot />
        <Drawer title="Files">
          <GainsFile />
        </Drawer>
      </div>
    </div>
  );
}
