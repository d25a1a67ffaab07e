import { useSignal } from '@preact/signals';
import { useModel } from '../parts/console.js';
import { Outcome } from '../parts/outcome.js';
import { Press } from '../parts/press.js';

/** Stands in place of the page's panels where the daemon shows nothing without a token. STOP and laser off stay. */
export function Login() {
  const model = useModel();
  const token = useSignal('');
  const enter = () => void model.access.enter(token.value);
  return (
    <section class="card login" aria-label="Login">
      <h2>This robot asks who you are</h2>
      <form
        class="toolbar"
        onSubmit={event => {
          event.preventDefault();
          enter();
        }}
      >
        <label>
          Token{' '}
          <input
            type="password"
            autocomplete="off"
            value={token.value}
            onInput={event => {
              token.value = event.currentTarget.value;
            }}
          />
        </label>
        <Press
          action={model.access.action}
          what="enter"
          class="primary"
          run={enter}
          disabled={token.value === ''}
        >
          Enter
        </Press>
      </form>
      <Outcome action={model.access.action} />
    </section>
  );
}
