import { UNIT_LIST } from '../../core/units.js';
import { MatchBoard } from '../match/match-board.js';
import { useModel } from '../parts/parts.js';
import { WhoAmI } from './access.js';
import { AlertStrip } from './alert-strip.js';
import { LaserSwitch, LinkState, ModeSwitch, ResumeButton, StopButton } from './switches.js';

/** The bar that is always visible: connection, modes, laser, STOP, match and alerts. */
export function TopBar() {
  const model = useModel();
  const { streams = 0 } = model.status.value ?? {};
  return (
    <header class="bar">
      <div class="brand">
        <h1>Trunnion</h1>
        {model.isSimulated && <span class="badge">SIMULATED</span>}
        <LinkState>Live{streams > 1 && ` · ${streams} pages open`}</LinkState>
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
      <div class="news">
        <MatchBoard />
        <AlertStrip />
      </div>
    </header>
  );
}
