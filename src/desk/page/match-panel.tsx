import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { minutesText, phaseText } from '../../console/match/match-board.js';
import { Twice } from '../../console/match/twice.js';
import { Press, typed, writes } from '../../console/parts/parts.js';
import { PLAY } from '../../core/phases.js';
import type { DeskView, MatchView } from '../show.js';
import { OVER } from '../state.js';
import { desk } from './desk.js';

/** The clock of a match, its presses, and what lacks for a start. */
export function MatchPanel({ view }: { readonly view: DeskView }) {
  const { match } = view;
  return (
    <section class="card match-panel" aria-label="Match">
      <MatchClock match={match} />
      <MatchPresses view={view} />
      <div class="lacks">
        {match !== null && match.why !== null && (
          <p class="why">
            {match.phase === 'pause' ? 'Paused' : 'Ended'}: {match.why}.
          </p>
        )}
        {match !== null && <Lacks match={match} />}
      </div>
    </section>
  );
}

export function MatchClock({ match }: { readonly match: MatchView | null }) {
  desk.nowMs.value;
  if (match === null) return <p class="clock-row">No match is loaded.</p>;
  const { id, phase, endsAtT, leftS, interrupted } = match;
  const left = endsAtT === null ? leftS : endsAtT - desk.deskT;
  return (
    <p class="clock-row">
      <span class="match-name clamp">{id}</span>{' '}
      <strong>{phase === 'none' ? 'released' : phaseText(phase)}</strong>{' '}
      {left !== null && <span class="clock">{minutesText(left)}</span>}
      {interrupted !== null && <span class="dim"> left of {phaseText(interrupted)}</span>}
    </p>
  );
}

/** The buttons keep their places. Each is grey while the phase does not have it. */
function MatchPresses({ view }: { readonly view: DeskView }) {
  const { match, matches } = view;
  const chosen = useSignal('');
  const [goesOn, seconds] = [useSignal(''), useSignal('')];
  const { phase = 'none', record = '' } = match ?? {};
  // What was typed in one pause is not meant for another one.
  const pause = phase === 'pause' ? `${record} ${match?.leftS}` : '';
  useEffect(() => {
    [goesOn.value, seconds.value] = ['', ''];
  }, [pause]);
  if (!desk.isReferee) return null;
  const plays = PLAY.includes(phase);
  const isReady = match !== null && match.lacks.length === 0;
  const name = chosen.value || (matches[0]?.id ?? '');
  const press = (act: string) => () => desk.press(`match/${act}`);
  const goOn = async () => {
    await desk.press('match/go-on', {
      ...(goesOn.value !== '' && { phase: goesOn.value }),
      ...(seconds.value !== '' && { seconds: Number(seconds.value) }),
    });
    if (desk.said.value === '') [goesOn.value, seconds.value] = ['', ''];
  };
  return (
    <div class="presses">
      {/* The closed lists of a browser take Esc and Space while they are open, so both lists are always open. */}
      <select
        aria-label="Match"
        size={2}
        value={name}
        onChange={({ currentTarget }) => writes(chosen, currentTarget.value)()}
      >
        {matches.map(({ id, robots, autoS, teleopS }) => (
          <option key={id} value={id}>
            {id}: {robots.length} robots, {autoS} + {teleopS} s
          </option>
        ))}
      </select>
      <Press
        text="Load"
        disabled={!OVER.includes(phase) || name === ''}
        run={() => desk.press('match/load', { match: name })}
      />
      <Press
        text="Start"
        class="primary"
        about={record}
        disabled={phase !== 'pre' || !isReady}
        run={press('start')}
      />
      <Press text="Pause" disabled={!plays} run={press('pause')} />
      <Press text="Go on" about={record} disabled={phase !== 'pause' || !isReady} run={goOn} />
      <Twice text="End" about={record} disabled={!plays && phase !== 'pause'} run={press('end')} />
      <Press
        text="Release"
        about={record}
        disabled={phase !== 'pre' && phase !== 'ended'}
        run={press('release')}
      />
      {/* A dead desk may have left locks alone, which are not shown as another desk. */}
      <Twice text="Take over" about={view.otherDesk?.holder ?? ''} run={() => desk.press('takeover')} />
      <span class="go-on">
        <select
          aria-label="Phase to go on with"
          size={2}
          disabled={phase !== 'pause'}
          value={goesOn.value || (match?.interrupted ?? '')}
          onChange={({ currentTarget }) => writes(goesOn, currentTarget.value)()}
        >
          <option>auto</option>
          <option>teleop</option>
        </select>
        <input
          {...typed(seconds)}
          aria-label="Seconds left"
          inputmode="numeric"
          placeholder={String(Math.ceil(match?.leftS ?? 0) || 's')}
          disabled={phase !== 'pause'}
        />
      </span>
    </div>
  );
}

/** What is missing before the match may start or go on, robot by robot. A referee may leave a robot out. */
function Lacks({ match }: { readonly match: MatchView }) {
  const names = [...new Set(match.lacks.map(({ robot }) => robot))];
  if (match.phase !== 'pre' && match.phase !== 'pause') return null;
  if (names.length === 0)
    return (
      <p class="state" data-state="good">
        Nothing lacks.
      </p>
    );
  return (
    <ul aria-label="What lacks">
      {names.map(name => (
        <li key={name}>
          <strong>{name}</strong>{' '}
          {match.lacks
            .filter(({ robot }) => robot === name)
            .map(({ text }) => text)
            .join(' ')}{' '}
          {desk.isReferee && (
            <Twice
              text={`Without ${name}`}
              about={`${match.record} ${name}`}
              run={() => desk.press('match/without', { robot: name })}
            />
          )}
        </li>
      ))}
    </ul>
  );
}
