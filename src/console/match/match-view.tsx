import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { MODES, UNIT_LIST, type Unit } from '../../core/units.js';
import { AlertStrip } from '../bar/alert-strip.js';
import { LaserLamp } from '../bar/laser-switch.js';
import { ResumeButton } from '../bar/stop-switch.js';
import { useConsole } from '../parts/console.js';
import { Press } from '../parts/press.js';
import { HoldButton } from './hold-button.js';
import { LinkQuality } from './link-quality.js';
import { MatchBoard } from './match-board.js';
import { vibrate } from './vibrate.js';
import { keepAwake } from './wake-lock.js';

/** One thumb on a phone: STOP at the bottom, Resume far from it, and nothing that acts by a slip. */
export function MatchView() {
  const { model } = useConsole();
  return (
    <div class="match">
      <header>
        <h1>Trunnion</h1>
        <LinkQuality />
        <ResumeButton />
      </header>
      <AlertStrip />
      <main>
        <MatchBoard />
        <Laser />
        {UNIT_LIST.map(unit => (
          <Modes key={unit.name} unit={unit} />
        ))}
        <p class="hint">
          <Awake /> <a href="#desk">Full page</a>
        </p>
      </main>
      <Press
        act={model.stopping}
        what="stop"
        class="stop"
        aria-keyshortcuts="Escape"
        run={() => {
          vibrate([80, 40, 80]);
          void model.stop();
        }}
      >
        STOP
        {model.asksAgain.value && <small>sent, asking again…</small>}
      </Press>
    </div>
  );
}

function Laser() {
  const { model } = useConsole();
  const light = model.fresh.value ? model.status.value?.laser.light : undefined;
  return (
    <fieldset class="laser" aria-label="Laser">
      <span class="label">
        Laser <LaserLamp />
      </span>
      <HoldButton
        act={model.laser}
        what="on"
        run={() => model.light()}
        pressed={light === 'on'}
        disabled={model.isStopped || !model.may('laser')}
      >
        On
      </HoldButton>
      <Press act={model.laser} what="off" run={() => model.darken()} pressed={light === 'dark'}>
        Off
      </Press>
    </fieldset>
  );
}

/** A chassis in auto drives away: that takes a longer press. */
function Modes({ unit: { name, title } }: { readonly unit: Unit }) {
  const { model } = useConsole();
  const status = model.status.value?.[name];
  return (
    <fieldset class="modes" aria-label={`${title} mode`} data-offline={status?.online === false || undefined}>
      <span class="label">
        {title} <span class="unit-note">{status?.online === false && 'offline'}</span>
      </span>
      {MODES.map(mode => {
        const Button = name === 'chassis' && mode === 'auto' ? HoldButton : Press;
        return (
          <Button
            key={mode}
            act={model.modes[name]}
            what={mode}
            run={() => model.switchMode(name, mode)}
            pressed={status?.mode === mode}
            disabled={model.isStopped || !model.may('drive')}
          >
            {mode}
          </Button>
        );
      })}
    </fieldset>
  );
}

function Awake() {
  const awake = useSignal(false);
  useEffect(
    () =>
      keepAwake(isAwake => {
        awake.value = isAwake;
      }),
    [],
  );
  return (
    <>
      {awake.value
        ? 'The screen stays on.'
        : 'The screen may go dark: this browser keeps it on over HTTPS only.'}
    </>
  );
}
