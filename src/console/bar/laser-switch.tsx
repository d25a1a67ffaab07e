import type { LaserStatus } from '../../schemas/status.js';
import { useModel } from '../parts/console.js';
import { HoldButton } from '../parts/hold-button.js';
import { Press } from '../parts/press.js';

/** There is no key that lights it. `holds`: no tap does either. */
export function LaserSwitch({ holds }: { readonly holds?: boolean }) {
  const model = useModel();
  const light = model.fresh.value ? model.status.value?.laser.light : undefined;
  const Light = holds ? HoldButton : Press;
  return (
    <fieldset class="group laser" aria-label="Laser">
      <span class="label">
        Laser <LaserLamp />
      </span>
      <div class="segments">
        <Light
          action={model.laser.action}
          what="on"
          run={() => model.laser.light()}
          pressed={light === 'on'}
          disabled={!model.fresh.value || model.isStopping || !model.may('laser')}
        >
          On
        </Light>
        <Press
          action={model.laser.action}
          what="off"
          run={() => model.laser.darken()}
          pressed={light === 'dark'}
          atTouch
          aria-keyshortcuts="L"
          data-key="L"
        >
          Off
        </Press>
      </div>
    </fieldset>
  );
}

const WORDS: Readonly<Record<LaserStatus['light'], string>> = {
  on: 'LASER ON',
  dark: 'dark',
  unknown: 'unknown',
  fault: 'FAULT',
};

/** What may be claimed of the light. What was heard once is no claim. */
function LaserLamp() {
  const model = useModel();
  const laser = model.status.value?.laser;
  const word = laser === undefined ? '' : WORDS[laser.light];
  /** It is otherwise since, as far as this page knows. */
  const isPast = model.laser.mayBeLit !== (laser?.light === 'on');
  return (
    <output class="lamp" title={laser?.problem?.detail ?? laser?.reason}>
      {model.fresh.value || word === '' ? word : `unknown${isPast ? '' : ` (was ${laser?.light})`}`}
    </output>
  );
}
