import { useSignal } from '@preact/signals';
import type { Session } from '../daemon/daemon.js';
import { Outcome, Press, Toggle, typed, useModel } from '../parts/parts.js';

/** Replaces the page's panels if the caller may not read. STOP and laser off remain. */
export function Login() {
  const { access } = useModel();
  const token = useSignal('');
  const shown = useSignal(false);
  return (
    <section class="card login" aria-label="Login">
      <h2>Log in with your token or link</h2>
      <p>{whyShut(access.session.value)}</p>
      <form class="row">
        <label>
          Token{' '}
          <input
            {...typed(token)}
            {...(shown.value ? { type: 'text' } : { type: 'password' })}
            autocomplete="off"
          />
        </label>
        <Toggle on={shown}>Show</Toggle>
        <Press
          type="submit"
          class="primary"
          run={() => access.enter(token.value)}
          disabled={token.value === ''}
        >
          Log in
        </Press>
      </form>
      <Outcome action={access.action} />
    </section>
  );
}

function whyShut({ access, name, role }: Partial<Session> = {}): string {
  if (access === 'unavailable') return 'The robot cannot read its tokens, so nobody may see or do anything.';
  return name == null
    ? 'This robot answers only to people with a token. Nobody is logged in here, or the token was removed.'
    : `${name} (${role}) may not read.`;
}

/** The name and the role of the caller. Empty without tokens. */
export function CallerName() {
  const { name, role } = useModel().access.session.value ?? {};
  if (name == null) return null;
  return (
    <span class="clamp" title={name}>
      {name} ({role})
    </span>
  );
}

/** The name of the caller, and the button to log out. */
export function WhoAmI() {
  const model = useModel();
  if (model.status.value?.access.exposed)
    return (
      <span
        class="badge open"
        title="Everybody who reaches this port may drive and switch the laser on: sudo trunnion token add closes it"
      >
        OPEN TO ALL
      </span>
    );
  if (model.access.session.value?.name == null) return null;
  return (
    <span class="who dim">
      <CallerName />
      <Press run={() => model.leave()}>Leave</Press>
    </span>
  );
}
