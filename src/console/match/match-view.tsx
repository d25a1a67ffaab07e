import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { UNIT_LIST } from '../../core/units.js';
import { Login } from '../access/login.js';
import { AlertStrip } from '../bar/alert-strip.js';
import { LaserSwitch } from '../bar/laser-switch.js';
import { ModeSwitch } from '../bar/mode-switch.js';
import { ResumeButton, StopButton } from '../bar/stop-switch.js';
import { useModel } from '../parts/console.js';
import { LinkQuality } from './link-quality.js';
import { MatchBoard } from './match-board.js';
import { keepAwake } from './wake-lock.js';

/** One thumb on a phone: STOP at the bottom, Resume far from it, and nothing that acts by a slip. */
export function MatchView() {
  const { isShut } = useModel().access;
  return (
    <div class="match">
      <header>
        <h1>Trunnion</h1>
        <LinkQuality />
        <ResumeButton />
      </header>
      <div>
        <AlertStrip isForThumb />
        <MatchBoard />
      </div>
      <main>
        <LaserSwitch holds />
        {isShut ? <Login /> : UNIT_LIST.map(unit => <ModeSwitch key={unit.name} unit={unit} holds />)}
        <p class="hint">
          <Awake /> <a href="#desk">Full page</a>
        </p>
      </main>
      <StopButton />
    </div>
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
