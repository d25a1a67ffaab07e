import type { ComponentChildren } from 'preact';
import { MODES, type Unit } from '../../core/units.js';
import type { LaserStatus } from '../../schemas/status.js';
import { isTouchScreen, Press, useModel, vibrate } from '../parts/parts.js';
import { whyNoResume } from './lines.js';

/** The STOP button. One press stops, or Escape from anywhere. */
export function StopButton() {
  const model = useModel();
  const stop = () => {
    vibrate([80, 40, 80]);
    model.pressStop();
  };
  return (
    <Press
      text="STOP"
      busy={model.stop.isUnanswered}
      run={stop}
      atTouch
      class="stop"
      aria-keyshortcuts="Escape"
      data-key="Esc"
    />
  );
}

/** Resume, or Go while a match has the robot stopped. */
export function ResumeButton() {
  const model = useModel();
  const isGo = model.go.isOffered;
  const { stopped, isUnanswered } = model.stop;
  const known = stopped === undefined ? undefined : model.status.value;
  const whyNow = known?.stopped ? whyNoResume(known) : '';
  const why = isUnanswered ? 'no answer yet' : known === undefined ? 'no contact' : whyNow;
  return (
    <Press
      text={isGo ? 'Go' : 'Resume'}
      needs="resume"
      run={() => (isGo ? model.go.run() : model.resume())}
      class="resume"
      hint={why}
      holds
      disabled={stopped === false || why !== ''}
    />
  );
}

const LIGHTS: Readonly<Record<LaserStatus['light'], string>> = {
  on: 'LASER ON',
  dark: 'dark',
  unknown: 'unknown',
  fault: 'FAULT',
};

/** The state of the light, which is unknown with stale data, and the buttons On and Off. No key presses On. */
export function LaserSwitch() {
  const model = useModel();
  const { laser, fresh, status } = model;
  const known = status.value?.laser;
  const light = fresh.value ? known?.light : undefined;
  const was = laser.mayBeLit === (known?.light === 'on') ? ` (was ${known?.light})` : '';
  return (
    <fieldset class="group laser" aria-label="Laser">
      <span class="label dim">
        Laser{' '}
        <output class="lamp cut" title={known?.problem?.detail ?? known?.reason}>
          {light ? LIGHTS[light] : known && `unknown${was}`}
        </output>
      </span>
      <div class="segments">
        <Press text="On" needs="laser" moves run={() => laser.light()} pressed={light === 'on'} />
        <Press
          text="Off"
          busy={laser.isOwed}
          run={() => laser.darken()}
          pressed={light === 'dark'}
          atTouch
          aria-keyshortcuts="L"
          data-key="L"
        />
      </div>
    </fieldset>
  );
}

/**
 * The mode buttons of one unit. The mode in force is lit, or grey while the controller is offline. `isInMatch`: leaves out
 * debug, unless it is in force. The buttons do not change with the phase, so that none moves under a finger. While Go is
 * offered, the buttons choose the mode that Go will set, and send nothing.
 */
export function ModeSwitch({ unit, isInMatch = false }: { unit: Unit; isInMatch?: boolean }) {
  const model = useModel();
  const { name, title } = unit;
  const status = model.status.value?.[name];
  const offline = status?.online === false;
  const allowed = model.status.value?.match.allows.modes;
  const drives = model.access.hasRight('drive');
  const isChosen = model.go.isOffered && drives;
  const chosen = isChosen ? model.go.modes[name].value : undefined;
  const shown = MODES.filter(mode => mode === status?.mode || (drives && !(isInMatch && mode === 'debug')));
  return (
    <fieldset
      class="group modes"
      aria-label={`${title} mode`}
      data-offline={offline || undefined}
      style={{ visibility: shown.length === 0 ? 'hidden' : undefined }}
    >
      <span class="label dim">
        {title} {chosen && <span class="at-go cut">Go: {chosen}</span>}
        <span class="unit-note cut">
          {offline ? 'offline' : status?.faults.join(', ').replaceAll('_', ' ')}
        </span>
      </span>
      <div class="segments">
        {shown.map(mode => (
          <Press
            text={mode}
            about={String(isChosen)}
            key={mode}
            run={() => (isChosen ? model.go.choose(name, mode) : model.switchMode(name, mode))}
            moves={mode !== 'manual' && !isChosen}
            class={mode === chosen && mode !== status?.mode ? 'primary' : undefined}
            atTouch={isTouchScreen}
            title={mode === 'manual' ? 'Holds where it is' : undefined}
            pressed={status?.mode === mode}
            disabled={
              isChosen
                ? mode === 'debug'
                : model.stop.stopped || !model.may('drive') || allowed?.includes(mode) === false
            }
          />
        ))}
      </div>
    </fieldset>
  );
}

interface LinkStateProps {
  readonly children: ComponentChildren;
  /** There is contact, but it is poor. */
  readonly isSlow?: boolean;
}

/** Shows whether the page has contact with the daemon. Shows its children only during contact. */
export function LinkState({ children, isSlow = false }: LinkStateProps) {
  const { status, fresh, deafness } = useModel();
  const isNew = status.value === undefined;
  const state = fresh.value ? (isSlow ? 'doing' : 'good') : isNew ? '' : 'bad';
  return (
    <span class="link state dim clamp" role="status" data-state={state}>
      {fresh.value ? children : deafness.value || (isNew ? 'Connecting…' : 'No contact')}
    </span>
  );
}
