import { useSignal } from '@preact/signals';
import { PHASES, type Phase, PLAY } from '../../core/phases.js';
import type { MatchStatus } from '../../schemas/match.js';
import { fixed } from '../model/numbers.js';
import { isTouchScreen, Outcome, Press, typed, useEvery, useModel, write } from '../parts/parts.js';
import { minutesText, phaseText } from './match-board.js';
import { Twice } from './twice.js';

/** In these phases a match runs. Every other phase ends it. */
const RUNS: readonly Phase[] = [...PLAY, 'pause'];

/** What a referee needs for a match: the lease, the phases with their clock, the pause and the lock. */
export function RefereePanel() {
  const { referee, status } = useModel();
  const name = useSignal<string | undefined>(undefined);
  const match = status.value?.match;
  if (match === undefined) return null;
  const id = name.value ?? match.id ?? 'match-1';
  return (
    <div class="referee">
      <LeaseRow match={match} />
      <div class="phases">
        {PHASES.map(phase => (
          <PhaseCell key={phase} phase={phase} id={id} match={match} />
        ))}
      </div>
      <LockRow match={match} />
      <Outcome action={referee.action} />
      <label>
        Match <input {...typed(name)} value={id} maxLength={64} aria-describedby="new-match" />{' '}
        <small id="new-match">To begin another match, enter another name and press pre.</small>
      </label>
      <p class="hint">
        The desk is the page or program with the lease. It sends a beat each second, so that the robot notices
        when its referee is gone.
      </p>
    </div>
  );
}

/**
 * The button of a phase, with its time if the robot plays in it. In a pause, the interrupted phase goes on with the time
 * that is left. Starting it over is a button of its own.
 */
function PhaseCell({ phase, id, match }: Record<'id', string> & { phase: Phase; match: MatchStatus }) {
  const { referee } = useModel();
  const { value: interrupted } = referee.interrupted;
  const isPaused = match.phase === 'pause' && interrupted?.phase === phase;
  const why = referee.whyNot(id, phase);
  const begin = () => referee.begin(id, phase);
  const endsMatch = RUNS.includes(match.phase) && !RUNS.includes(phase);
  return (
    <span>
      {isPaused ? (
        <Press
          text="Go on"
          class="primary"
          disabled={referee.whyNoPlay !== ''}
          hint={[phaseText(phase), ...leftText(interrupted.remainingS)].join(', ')}
          run={() => referee.set(match.id ?? id, phase, interrupted.remainingS)}
        />
      ) : (
        <Twice
          text={phase === 'none' ? 'no match' : phaseText(phase)}
          about={`${match.id} ${id}`}
          pressed={why === 'now'}
          disabled={why !== ''}
          hint={why}
          asks={endsMatch && (phase === 'ended' || !isTouchScreen)}
          holds={endsMatch && phase !== 'ended'}
          run={begin}
        />
      )}
      {PLAY.includes(phase) && (
        <div class="row">
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
          {isPaused && <Press text="Start over" disabled={why !== ''} run={begin} />}
        </div>
      )}
    </span>
  );
}

const leftText = (remainingS: number | null) =>
  remainingS === null ? [] : [`${minutesText(remainingS)} left`];

/** Lock acts as soon as it is touched. Unlock needs a second press. */
function LockRow({ match: { lock } }: { readonly match: MatchStatus }) {
  const { referee } = useModel();
  const reason = useSignal('Referee');
  return (
    <div class="row">
      <Press text="LOCK" class="lock" atTouch run={() => referee.lock(reason.value.trim() || 'Referee')} />
      <input {...typed(reason)} maxLength={200} aria-label="Reason of the lock" />
      {lock !== null && (
        <Twice
          text="Unlock"
          about={lock.id}
          disabled={referee.whyNoContact !== ''}
          hint={referee.whyNoContact}
          run={() => referee.unlock(lock.id)}
        />
      )}
    </div>
  );
}

const LOOK_MS = 1000;

/** The desk that has the lease, the age of its last beat, and one button that takes or releases the lease. */
function LeaseRow({ match: { lease, phase } }: { readonly match: MatchStatus }) {
  const { referee, clock } = useModel();
  const nowMs = useSignal(clock.nowMs());
  useEvery(200, () => write(nowMs, clock.nowMs()));
  useEvery(LOOK_MS, () => referee.look(), lease !== null && !lease.expired);
  const isSilent = referee.isSilent(nowMs.value);
  const ageS = Math.max(0, nowMs.value - (referee.beatMs.value ?? 0)) / 1000;
  const beat = referee.beatMs.value === undefined ? '' : ` Last beat ${fixed(ageS, 1)} s ago.`;
  const text = isSilent
    ? `THIS PAGE IS SILENT.${beat} Check its network, or take the lease on another device.`
    : referee.isBeating
      ? `This page has the lease.${beat}`
      : `${leaseText(lease, referee.holder)}${beat} Play needs the lease.`;
  const isPlaying = PLAY.includes(phase);
  return (
    <div class="row lease">
      <span
        class="state dim"
        data-state={isSilent ? 'bad' : referee.isBeating ? 'good' : 'doing'}
        role="status"
      >
        {text}
      </span>
      {referee.isBeating ? (
        <Press
          text="Release"
          run={() => referee.release()}
          holds
          disabled={isPlaying}
          hint={isPlaying ? 'not during play' : ''}
          title="This page stops sending beats"
        />
      ) : (
        <Twice
          text={referee.isHeld ? 'Take it over' : 'Take the lease'}
          about={lease?.holder ?? ''}
          asks={referee.isHeld}
          disabled={referee.whyNoContact !== ''}
          hint={referee.whyNoContact}
          class="primary"
          run={() => referee.take(referee.isHeld)}
        />
      )}
    </div>
  );
}

function leaseText(lease: MatchStatus['lease'], ownHolder: string): string {
  if (lease === null || lease.expired) return 'No desk has the lease.';
  const { holder, by } = lease;
  if (holder === ownHolder) return 'This page had the lease.';
  return `${holder === by ? by : `${holder} (${by})`} has the lease.`;
}
