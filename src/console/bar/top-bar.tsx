import { UNIT_LIST } from '../../core/units.js';
import { WhoAmI } from '../access/login.js';
import { MatchBoard } from '../match/match-board.js';
import { useConsole } from '../parts/console.js';
import { AlertStrip } from './alert-strip.js';
import { LaserSwitch } from './laser-switch.js';
import { ModeSwitch } from './mode-switch.js';
import { ResumeButton, StopButton } from './stop-switch.js';

/** Always in sight: how the robot is, its modes, its laser, what is wrong, and the way to stop it. */
export function TopBar() {
  const { model } = useConsole();
  return (
    <header class="bar">
      <div class="brand">
        <h1>Trunnion</h1>
        {model.status.value?.simulated && <span class="badge">SIMULATED</span>}
        <LinkState />
        <a class="match-link" href="#match">
          Match view
        </a>
        <WhoAmI />
      </div>
      {UNIT_LIST.map(unit => (
        <ModeSwitch key={unit.name} unit={unit} />
      ))}
      <LaserSwitch />
      <fieldset class="group stopping" aria-label="Stop">
        <StopButton />
        <ResumeButton />
      </fieldset>
      <MatchBoard />
      <AlertStrip />
    </header>
  );
}

function LinkState() {
  const { model } = useConsole();
  const status = model.status.value;
  const state = model.fresh.value ? 'live' : status === undefined ? 'connecting' : 'stale';
  const pages = status !== undefined && status.streams > 1 ? ` · ${status.streams} pages open` : '';
  return (
    <span class="link" role="status" data-state={state}>
      {{ live: `Live${pages}`, connecting: 'Connecting…', stale: 'No contact' }[state]}
    </span>
  );
}
