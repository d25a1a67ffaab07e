import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { UNIT_LIST } from '../../core/units.js';
import type { StepSize } from '../model/numbers.js';
import { useModel } from '../parts/console.js';
import { Drawer } from '../parts/drawer.js';
import { GainsFile } from './gains-file.js';
import { SnapshotButton } from './snapshot-button.js';
import { listenToTuningKeys } from './tuning-keys.js';
import { UnitCard } from './unit-card.js';

/** All gains, and what is done to all of them at once. */
export function TuningPanel() {
  const model = useModel();
  const size = useSignal<StepSize>('usual');
  useEffect(() => listenToTuningKeys(model), []);
  return (
    <div class="tuning">
      {UNIT_LIST.map(unit => (
        <UnitCard key={unit.name} unit={unit} size={size.value} />
      ))}
      <div class="toolbar">
        <button
          type="button"
          aria-pressed={size.value === 'fine'}
          title="Steps of a tenth. Alt does the same for one step, Shift makes it ten times as large."
          onClick={() => {
            size.value = size.value === 'fine' ? 'usual' : 'fine';
          }}
        >
          Fine steps
        </button>
        <SnapshotButton />
        <Drawer title="Files">
          <GainsFile />
        </Drawer>
      </div>
    </div>
  );
}
