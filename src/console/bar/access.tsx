import type { Session } from '../daemon/daemon.js';
import { LoginForm } from '../parts/login-form.js';
import { Outcome, Press, useModel } from '../parts/parts.js';

/** Replaces the page's panels if the caller may not read. STOP and laser off remain. */
export function Login() {
  const { access } = useModel();
  return (
    <LoginForm why={whyShut(access.session.value)} enter={token => access.enter(token)}>
      <Outcome action={access.action} />
    </LoginForm>
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
    <span class="person" title={name}>
      <span class="cut">{name}</span> ({role})
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
      <Press text="Leave" run={() => model.leave()} />
    </span>
  );
}
