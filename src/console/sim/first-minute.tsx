import { useSignal } from '@preact/signals';
import { useModel } from '../parts/parts.js';

const KEY = 'trunnion.begun';

/** What to try first on a simulated robot, until it is dismissed. */
export function FirstMinute() {
  const model = useModel();
  const { daemon } = model;
  const dismissed = useSignal(localStorage.getItem(KEY) !== null);
  if (dismissed.value) return null;
  const yaw = { unit: 'gimbal', loop: 'angle_yaw' } as const;
  const exciteYaw = async () => {
    model.choice.value = yaw;
    if (await model.switchMode('gimbal', 'debug')) model.excite(yaw, 0.1, 2);
  };
  return (
    <section class="card first" aria-label="First minute">
      <p>
        <strong>This robot is simulated.</strong> Try what it does, and how this page shows it:
      </p>
      <div class="toolbar">
        <button type="button" onClick={() => void model.switchMode('gimbal', 'auto')}>
          Gimbal auto
        </button>
        <button type="button" onClick={() => model.laser.light()}>
          Laser on
        </button>
        <button type="button" onClick={() => void exciteYaw()}>
          Excite yaw
        </button>
        <button type="button" onClick={() => void daemon.fault('gimbal', 'unplug')}>
          Unplug the gimbal
        </button>
        <button type="button" onClick={() => void daemon.fault('gimbal', 'plug')}>
          Plug it in
        </button>
        <span class="spring" />
        <button
          type="button"
          onClick={() => {
            dismissed.value = true;
            localStorage.setItem(KEY, 'yes');
          }}
        >
          Dismiss
        </button>
      </div>
    </section>
  );
}
