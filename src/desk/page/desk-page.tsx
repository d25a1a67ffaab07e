import { useSignal, useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { Twice } from '../../console/match/twice.js';
import { LoginForm } from '../../console/parts/login-form.js';
import { Press, typed } from '../../console/parts/parts.js';
import type { DeskView, RobotView } from '../show.js';
import { desk, isScreen } from './desk.js';
import { listenToLockKeys } from './lock-keys.js';
import { MatchPanel } from './match-panel.js';
import { Screen } from './screen.js';
import { Tile } from './tile.js';

export function DeskPage() {
  useSignalEffect(() => {
    document.documentElement.toggleAttribute('data-stale', !desk.isFresh.value);
  });
  if (isScreen()) return desk.isShut ? <Login /> : <Screen />;
  return <Field />;
}

function Field() {
  useEffect(() => listenToLockKeys(() => desk.mayLock && desk.lockAll()), []);
  const view = desk.view.value;
  return (
    <>
      <TopBar view={view} />
      {desk.isShut && <Login />}
      {view !== undefined && !desk.isShut && (
        <main class="field">
          <MatchPanel view={view} />
          <div class="tiles">
            {view.robots.map(robot => (
              <Tile key={robot.name} robot={robot} />
            ))}
          </div>
          {desk.isReferee && <Robots robots={view.robots} />}
        </main>
      )}
    </>
  );
}

function TopBar({ view }: { readonly view: DeskView | undefined }) {
  const { lock = null } = view ?? {};
  const { name, role } = desk.session.value ?? {};
  return (
    <header class="desk-bar">
      <div class="brand row">
        <h1>Trunnion desk</h1>
        <span class="link" role="status">
          {desk.isFresh.value ? 'Live' : contactText(view === undefined, desk.ageS.value)}
        </span>
        {name != null && (
          <span class="who dim">
            <span class="clamp">
              {name} ({role})
            </span>
            <Press text="Leave" run={() => desk.leave()} />
          </span>
        )}
      </div>
      <div class="desk-lines" role="status">
        {linesOf(view, desk.said.value).map(text => (
          <p key={text}>{text}</p>
        ))}
      </div>
      <p class="lock-state clamp" data-all={lock !== null && lock.confirmed === lock.of} role="status">
        {lockText(lock)}
      </p>
      {desk.isReferee && (
        <Twice
          text="Unlock"
          class="unlock"
          about={lock?.id ?? ''}
          disabled={lock === null}
          run={() => desk.press('unlock', lock === null ? {} : { lock: lock.id }, 'lock')}
        />
      )}
      {desk.mayLock && (
        <Press
          text="LOCK ALL"
          hint="Esc or Space"
          class="lock-all"
          atTouch
          busy={desk.isPending('lock')}
          run={() => desk.lockAll()}
        />
      )}
    </header>
  );
}

function contactText(isFirst: boolean, ageS: number): string {
  return isFirst ? 'No contact with the desk yet' : `NO CONTACT with the desk for ${Math.floor(ageS)} s`;
}

function lockText(lock: DeskView['lock']): string {
  if (lock === null) return '';
  const { confirmed, of, by } = lock;
  return confirmed === of
    ? `LOCKED: all ${of}, by ${by}`
    : `LOCKED: ${of - confirmed} of ${of} NOT CONFIRMED, by ${by}`;
}

/** The lines about the desk itself, the newest refusal first. */
function linesOf(view: DeskView | undefined, said: string): string[] {
  const { otherDesk = null, problems = [] } = view ?? {};
  const other = otherDesk && `${otherDesk.holder} (${otherDesk.by}) holds ${otherDesk.robots.join(', ')}.`;
  return [said, other ?? '', ...problems].filter(Boolean);
}

function Login() {
  return (
    <LoginForm why="This desk answers only to people with a token." enter={token => desk.enter(token)}>
      <p class="outcome refusal" role="alert">
        {desk.said.value}
      </p>
    </LoginForm>
  );
}

/** Adds robots, removes those that were added, and accepts new ids. */
function Robots({ robots }: { readonly robots: readonly RobotView[] }) {
  const [name, link] = [useSignal(''), useSignal('')];
  const add = async () => {
    await desk.press('robots/add', { name: name.value, link: link.value });
    if (desk.said.value === '') [name.value, link.value] = ['', ''];
  };
  return (
    <form class="card row" aria-label="Robots">
      <label>
        Name <input {...typed(name)} autocomplete="off" />
      </label>
      <label class="wide">
        Link that <code>trunnion token add</code> printed <input {...typed(link)} autocomplete="off" />
      </label>
      <Press text="Add" type="submit" disabled={name.value === '' || link.value === ''} run={add} />
      {robots.map(
        ({ name: robot, otherId }) =>
          otherId !== null && (
            <Twice
              text={`Accept ${otherId} as ${robot}`}
              key={robot}
              run={() => desk.press('robots/accept', { robot, id: otherId })}
            />
          ),
      )}
      {robots.map(
        ({ name: robot, isInFile }) =>
          !isInFile && (
            <Twice text={`Remove ${robot}`} key={robot} run={() => desk.press('robots/remove', { robot })} />
          ),
      )}
    </form>
  );
}
