import { desk } from './desk.js';
import { MatchClock } from './match-panel.js';

/** What an audience sees: clock and phase of the match, and whether the field is locked. */
export function Screen() {
  const view = desk.view.value;
  if (view === undefined || !desk.isFresh.value) return <p class="screen">No contact with the desk</p>;
  return (
    <main class="screen">
      <MatchClock match={view.match} />
      {view.lock !== null && <p class="locked">LOCKED</p>}
    </main>
  );
}
