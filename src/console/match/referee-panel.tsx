import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { every } from '../../core/clock.js';
import { PHASES, type Phase, PLAY } from '../../core/phases.js';
import type { MatchStatus } from '../../schemas/match.js';
import { fixed } from '../model/numbers.js';
import { Outcome, Press, typed, useModel, writes } from '../parts/parts.js';
import { minutesText, phaseText } from './match-board.js';

/** What a referee needs for a match: the lease, the phases with their clock, the pause and the lock. */
export function RefereePanel() {
  const model = useModel();
  const { referee, status } = model;
  const name = useSignal<string | undefined>(undefined);
  const match = status.value?.match;
  if (match === undefined) return null;
  const id = name.value ?? match.id ?? 'match-1';
  const { value: interrupted } = referee.interrupted;
  // The button of this phase is disabled, because a second press would start the phase again with its whole
  // time.
  const isRunning = (phase: Phase) => match.phase === phase && match.id === id;
  return (
    <div class="referee">
      <LeaseRow match={match} />
      <label>
        Match <input {...typed(name)} value={id} maxLength={64} aria-describedby="new-match" />{' '}
        <small id="new-match">To begin another match, enter another name and press pre.</small>
      </label>
      <div class="phases">
        {PHASES.map(phase => (
          <span key={phase}>
            <Press
              pressed={isRunning(phase)}
              disabled={
                id === '' ||
                isRunning(phase) ||
                referee.durationS(phase) === undefined ||
                (PLAY.includes(phase) && !referee.isBeating)
              }
              run={() => referee.begin(id, phase)}
            >
              {phase === 'none' ? 'no match' : phaseText(phase)}
            </Press>
            {PLAY.includes(phase) && (
              <label>
                <input
                  type="text"
                  placeholder="no end"
                  aria-invalid={referee.durationS(phase) === undefined}
                  aria-label={`Seconds of ${phaseText(phase)}`}
                  value={referee.durations.value[phase]}
                  onInput={event => referee.setDuration(phase, event.currentTarget.value)}
                />{' '}
                s
              </label>
            )}
          </span>
        ))}
      </div>
      <LockRow match={match} />
      {interrupted && (
        <Press
          class="primary"
          disabled={!referee.isBeating}
          run={() => referee.set(id, interrupted.phase, interrupted.remainingS)}
        >
          Go on with {phaseText(interrupted.phase)}
          {interrupted.remainingS !== null && `, ${minutesText(interrupted.remainingS)} left`}
        </Press>
      )}
      <Outcome action={referee.action} />
    </div>
  );
}

const LOOK_MS = 1000;

/** The desk that has the lease, and the age of its last beat. */
function LeaseRow({ match: { lease, phase } }: { readonly match: MatchStatus }) {
  const { referee, surroundings } = useModel();
  const { clock } = surroundings;
  const nowMs = useSignal(clock.nowMs());
  useEffect(
    () =>
      every(clock, 200, () => {
        nowMs.value = clock.nowMs();
      }),
    [],
  );
  const hasLease = lease !== null;
  useEffect(() => (hasLease ? every(clock, LOOK_MS, () => void referee.look()) : undefined), [hasLease]);
  const isOther = lease !== null && lease.holder !== referee.holder;
  const ageS = Math.max(0, nowMs.value - (referee.beatMs.value ?? 0)) / 1000;
  const beat = referee.beatMs.value === undefined ? '' : ` Last beat ${fixed(ageS, 1)} s ago.`;
  const text = referee.isBeating
    ? `This page has the lease.${beat}`
    : lease === null
      ? 'No desk has the lease.'
      : `${isOther ? `${lease.holder} (${lease.by})` : 'This page'} took the lease last.${beat}`;
  return (
    <p class="row">
      <span
        class="state dim"
        data-state={referee.isBeating ? (ageS < 2 ? 'good' : 'bad') : 'doing'}
        role="status"
      >
        {text}
      </span>
      {referee.isBeating ? (
        <Press
          run={() => referee.release()}
          disabled={PLAY.includes(phase)}
          title="This page stops sending beats"
        >
          Release
        </Press>
      ) : (
        <>
          <Press class="primary" run={() => referee.take(false)}>
            Take the lease
          </Press>
          {referee.action.refusal.value?.code === 'lease-held' && (
            <Press run={() => referee.take(true)}>Take it over</Press>
          )}
        </>
      )}
    </p>
  );
}

const UNLOCK_MS = 4000;

/** Lock acts as soon as it is touched. Unlock needs a second press. */
function LockRow({ match: { lock } }: { readonly match: MatchStatus }) {
  const { referee, surroundings } = useModel();
  const reason = useSignal('Referee');
  const asks = useSignal(false);
  const askFirst = () => {
    asks.value = true;
    surroundings.clock.after(UNLOCK_MS, writes(asks, false));
  };
  const unlock = () => {
    asks.value = false;
    return referee.unlock();
  };
  return (
    <div class="row">
      <Press class="lock" atTouch run={() => referee.lock(reason.value.trim() || 'Referee')}>
        LOCK
      </Press>
      <input {...typed(reason)} maxLength={200} aria-label="Reason of the lock" />
      {lock !== null && (
        <Press run={asks.value ? unlock : askFirst} pressed={asks.value}>
          {asks.value ? 'Press again to unlock' : 'Unlock'}
        </Press>
      )}
    </div>
  );
}
