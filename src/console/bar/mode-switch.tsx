import { MODES, type Unit } from '../../core/units.js';
import { useModel } from '../parts/console.js';
import { HoldButton } from '../parts/hold-button.js';
import { Press } from '../parts/press.js';

interface ModeSwitchProps {
  readonly unit: Unit;
  /** A chassis in auto drives away: for a thumb that takes a longer press. */
  readonly holds?: boolean;
}

/** The modes of one unit; the one in force is lit, or grey while the controller is away. */
export function ModeSwitch({ unit: { name, title }, holds }: ModeSwitchProps) {
  const model = useModel();
  const status = model.status.value?.[name];
  const offline = status?.online === false;
  const allowed = model.status.value?.match.allows.modes;
  return (
    <fieldset class="group modes" aria-label={`${title} mode`} data-offline={offline || undefined}>
      <span class="label">
        {title}{' '}
        <span class="unit-note">{offline ? 'offline' : status?.faults.join(', ').replaceAll('_', ' ')}</span>
      </span>
      <div class="segments">
        {MODES.map(mode => {
          const Button = holds && name === 'chassis' && mode === 'auto' ? HoldButton : Press;
          return (
            <Button
              key={mode}
              action={model.modes[name]}
              what={mode}
              run={() => model.switchMode(name, mode)}
              pressed={status?.mode === mode}
              disabled={
                (mode === 'manual' ? model.stop.stopped : model.isStopping) ||
                !model.may('drive') ||
                allowed?.includes(mode) === false
              }
            >
              {mode}
            </Button>
          );
        })}
      </div>
    </fieldset>
  );
}
