import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { Press, Toggle, typed } from './parts.js';

interface LoginFormProps {
  /** Why the page shows nothing else. */
  readonly why: string;
  readonly enter: (token: string) => unknown;
  /** The result of the last attempt. */
  readonly children?: ComponentChildren;
}

/** Asks for a token or a link. */
export function LoginForm({ why, enter, children }: LoginFormProps) {
  const token = useSignal('');
  const shown = useSignal(false);
  return (
    <section class="card login" aria-label="Login">
      <h2>Log in with your token or link</h2>
      <p>{why}</p>
      <form class="row">
        <label>
          Token{' '}
          <input
            {...typed(token)}
            {...(shown.value ? { type: 'text' } : { type: 'password' })}
            autocomplete="off"
          />
        </label>
        <Toggle text="Show" on={shown} />
        <Press
          text="Log in"
          type="submit"
          class="primary"
          run={() => enter(token.value)}
          disabled={token.value === ''}
        />
      </form>
      {children}
    </section>
  );
}
