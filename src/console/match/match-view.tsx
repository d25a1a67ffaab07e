import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { UNIT_LIST } from '../../core/units.js';
import type { Status, UnitStatus } from '../../schemas/status.js';
import { CallerName, Login } from '../bar/access.js';
import { AlertStrip } from '../bar/alert-strip.js';
import { isStopProven } from '../bar/lines.js';
import { LaserSwitch, LinkState, ModeSwitch, ResumeButton, StopButton } from '../bar/switches.js';
import { Sticks } from '../drive/drive-panel.js';
import { fixed } from '../model/numbers.js';
import { useEvery, useModel, writes } from '../parts/parts.js';
import { MatchBoard } from './match-board.js';
import { MatchEvents } from './match-events.js';
import { RefereePanel } from './referee-panel.js';

/**
 * The page for one thumb on a phone. STOP is at the bottom, and Resume is far from it. Who has no Resume has the laser in its
 * place, because the panel of a referee and the login leave no room below.
 */
export function MatchView() {
  const { access, fresh, isSimulated, status } = useModel();
  const drives = access.hasRight('drive');
  const isReferee = access.hasRight('rule') && !drives;
  return (
    <div class="match">
      <header>
        <div class="home">
          <h1>Trunnion</h1>
          {isSimulated && <span class="badge">SIMULATED</span>}
          <a href="#desk">Full page</a>
        </div>
        <div class="caller">
          <LinkQuality />
          <CallerName />
        </div>
        {drives ? <ResumeButton /> : <LaserSwitch />}
      </header>
      <AlertStrip isForThumb />
      <main>
        <div class="middle">
          <MatchBoard />
          <p role="status">{stateText(status.value, fresh.value)}</p>
        </div>
        {isReferee && <RefereePanel />}
        {drives && <LaserSwitch />}
        {access.isShut ? (
          <Login />
        ) : (
          UNIT_LIST.map(unit => <ModeSwitch key={unit.name} unit={unit} isInMatch />)
        )}
        {!access.isShut && <Sticks />}
        <p class="hint">
          <Awake />
        </p>
        {isReferee && <MatchEvents />}
      </main>
      <StopButton />
    </div>
  );
}

/** A short text about what the robot does. */
function stateText(status: Status | undefined, isFresh: boolean): string {
  if (status === undefined || !isFresh) return 'What the robot does is unknown.';
  const silent = UNIT_LIST.filter(({ name }) => !status[name].online).map(({ name }) => name);
  if (status.stopped && !isStopProven(status)) return 'STOPPED, NOT CONFIRMED';
  if (status.stopped)
    return silent.length === 0 ? 'STOPPED, confirmed' : `STOPPED, ${silent.join(' and ')} silent`;
  const modeOf = ({ online, mode }: UnitStatus) => (online ? (mode ?? 'unknown') : 'offline');
  return UNIT_LIST.map(({ name }) => `${name} ${modeOf(status[name])}`).join(' · ');
}

const CHECK_MS = 2000;
/** Answers that take longer than this are felt by the driver. */
const SLOW_MS = 1000;

/** The daemon's response time, and the number of readings a second. */
function LinkQuality() {
  const { daemon, telemetry, clock } = useModel();
  const answerMs = useSignal<number | undefined>(undefined);
  const hz = useSignal<number | undefined>(undefined);
  const count = useRef(telemetry.count);
  useEvery(CHECK_MS, async () => {
    hz.value = Math.round(((telemetry.count - count.current) * 1000) / CHECK_MS);
    count.current = telemetry.count;
    const sentMs = clock.nowMs();
    const outcome = await daemon.get('/healthz');
    answerMs.value = 'body' in outcome ? Math.max(1, Math.round(clock.nowMs() - sentMs)) : undefined;
  });
  const { value: ms = 0 } = answerMs;
  if (ms > SLOW_MS) return <LinkState isSlow>Answers {fixed(ms / 1000, 1)} s late</LinkState>;
  return (
    <LinkState>
      Live · {answerMs.value ?? '–'} ms · {hz.value ?? '–'} Hz
    </LinkState>
  );
}

/** Keeps the screen lit while the page is visible, if the browser allows it. Shows whether it does. */
function Awake() {
  const lock = useSignal<WakeLockSentinel | undefined>(undefined);
  useEffect(() => {
    let isOver = false;
    const ask = async () => {
      if (document.hidden) return;
      // Browsers allow the wake lock over HTTPS only, and not on a low battery.
      const granted = await navigator.wakeLock?.request('screen').catch(() => undefined);
      granted?.addEventListener('release', writes(lock, undefined));
      lock.value = granted;
      if (isOver) void granted?.release();
    };
    void ask();
    document.addEventListener('visibilitychange', ask);
    return () => {
      isOver = true;
      document.removeEventListener('visibilitychange', ask);
      void lock.peek()?.release();
    };
  }, []);
  return lock.value === undefined
    ? 'The screen may go dark: this browser keeps it on over HTTPS only.'
    : 'The screen stays on.';
}
