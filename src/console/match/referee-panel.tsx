import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { every } from '../../core/clock.js';
import { PHASES, type Phase, PLAY } from '../../core/phases.js';
import type { MatchStatus } from '../../schemas/match.js';
import { fixed } from '../model/numbers.js';
import { isTouchScreen, Outcome, Press, type PressProps, typed, useModel, writes } from '../parts/parts.js';
import { minutesText, phaseText } from './match-board.js';

/** In these phases a match runs. Leaving them for one of ENDS ends it. */
const RUNS: readonly Phase[] = [...PLAY, 'pause'];
const ENDS: readonly Phase[] = ['none', 'pre', 'ended'];

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
  const endsMatch = (phase: Phase) => RUNS.includes(match.phase) && ENDS.includes(phase);
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
            <Twice
              asks={endsMatch(phase) && (phase === 'ended' || !isTouchScreen)}
              holds={endsMatch(phase) && phase !== 'ended'}
              again="press again"
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
            </Twice>
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

const AGAIN_MS = 4000;

interface TwiceProps extends PressProps {
  /** Whether the act needs a second press. */
  readonly asks: boolean;
  /** The hint that asks for it. */
  readonly again: string;
}

/** A button that may need a second press within AGAIN_MS. */
function Twice({ asks, again, run, ...rest }: TwiceProps) {
  const { clock } = useModel().surroundings;
  const asked = useSignal(false);
  const press = () => {
    const mayAct = !asks || asked.value;
    asked.value = !mayAct;
    return mayAct ? run() : void clock.after(AGAIN_MS, writes(asked, false));
  };
  const isAsked = asks && asked.value;
  return <Press {...rest} run={press} {...(isAsked && { pressed: true, hint: again })} />;
}

/** Lock acts as soon as it is touched. Unlock needs a second press. */
function LockRow({ match: { lock } }: { readonly match: MatchStatus }) {
  const { referee } = useModel();
  const reason = useSignal('Referee');
  return (
    <div class="row">
      <Press class="lock" atTouch run={() => referee.lock(reason.value.trim() || 'Referee')}>
        LOCK
      </Press>
      <input {...typed(reason)} maxLength={200} aria-label="Reason of the lock" />
      {lock !== null && (
        <Twice asks again="press again" run={() => referee.unlock()}>
          Unlock
        </Twice>
      )}
    </div>
  );
}
