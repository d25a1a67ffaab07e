import { phaseText } from '../../console/match/match-board.js';
import { Twice } from '../../console/match/twice.js';
import { Press } from '../../console/parts/parts.js';
import { UNIT_LIST } from '../../core/units.js';
import type { RobotView } from '../show.js';
import { desk } from './desk.js';

const HEARD_S = 1.5;

/** One robot. Every button has a place of its own, so that none changes its meaning without a press. */
export function Tile({ robot }: { readonly robot: RobotView }) {
  const { name, place, ageS } = robot;
  const age = ageS === null ? null : ageS + desk.ageS.value;
  const isHeard = robot.heard && age !== null && age <= HEARD_S;
  // Phase and light stay in sight, whatever else there is to say.
  const says = [lockText(robot), robot.missed, stateText(robot)].filter(text => text !== null && text !== '');
  return (
    <section
      class="tile"
      aria-label={name}
      data-unheard={!isHeard || undefined}
      data-lock={robot.locking ?? (robot.lock === null ? undefined : 'other')}
      data-lit={robot.light === 'on' || robot.light === 'fault' || undefined}
      data-pit={place === 'pit' || undefined}
    >
      <header>
        <h2 class="clamp">{name}</h2>
        <span class="age" role="status">
          {isHeard ? `${age.toFixed(1)} s` : unheardText(age)}
        </span>
      </header>
      {says.map(text => (
        <p key={text} class="clamp says">
          {text}
        </p>
      ))}
      <p class="clamp dim" style={{ '--says': says.length }}>
        {[...robot.problems, detailText(robot)].join(' ')}
      </p>
      {desk.isReferee && <TilePresses robot={robot} />}
    </section>
  );
}

function unheardText(ageS: number | null): string {
  return ageS === null ? 'not heard' : `not heard for ${Math.floor(ageS)} s`;
}

function lockText({ lock, locking }: RobotView): string {
  if (locking === 'not confirmed') return 'NOT CONFIRMED';
  if (locking === 'asking') return 'Locking…';
  if (lock !== null) return `LOCKED by ${lock.by}: ${lock.reason}`;
  return locking === 'confirmed' ? 'LOCKED' : '';
}

function stateText({ phase, stopped, light }: RobotView): string {
  if (phase === null) return '';
  const match = phase === 'none' ? 'no match' : phaseText(phase);
  return [match, stopped ? 'stopped' : 'may move', light === 'dark' ? 'dark' : `light ${light}`].join(' · ');
}

function detailText({ modes, torque, roundTripMs }: RobotView): string {
  if (modes === null || torque === null) return '';
  const texts = UNIT_LIST.map(({ name }) => [name, `${modes[name] ?? '?'}, torque ${torque[name]}`] as const);
  // A tile is small, and in a lock all units are alike.
  const kinds = [...new Set(texts.map(([, text]) => text))];
  const units = kinds.length === 1 ? kinds : texts.map(parts => parts.join(' '));
  return [...units, ...(roundTripMs === null ? [] : [`${roundTripMs.toFixed(0)} ms`])].join(' · ');
}

function TilePresses({ robot }: { readonly robot: RobotView }) {
  const { name, place, missed, ownLock } = robot;
  const subject = `robot ${name}`;
  const press = (act: string, body = {}) => desk.press(`robots/${act}`, { robot: name, ...body }, subject);
  return (
    <div class="tile-presses">
      <Press
        text="LOCK"
        class="lock-one"
        atTouch
        busy={desk.isPending(subject)}
        run={() => press('lock', { reason: `LOCK ${name}` })}
      />
      <Twice
        text="Unlock"
        about={ownLock ?? ''}
        disabled={ownLock === null}
        run={() => press('unlock', { lock: ownLock ?? '' })}
      />
      <Press
        text="Join"
        disabled={missed === null}
        run={() => desk.press('match/join', { robot: name }, `join ${name}`)}
      />
      <Press
        text="Pit"
        pressed={place === 'pit'}
        about={place}
        run={() =>
          desk.press(
            'robots/place',
            { robot: name, place: place === 'pit' ? 'field' : 'pit' },
            `place ${name}`,
          )
        }
      />
    </div>
  );
}
