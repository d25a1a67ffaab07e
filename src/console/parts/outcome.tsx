import { type Action, refusalText } from '../model/action.js';

/** How an act went, beside the thing it was about. Its line is kept free, so that nothing moves when it speaks. */
export function Outcome({ action, pending }: { readonly action: Action; readonly pending?: string }) {
  const refusal = action.refusal.value;
  const done = action.pending.value === undefined ? action.done.value : pending;
  return (
    <p
      class={refusal === undefined ? 'outcome' : 'outcome refusal'}
      role={refusal === undefined ? 'status' : 'alert'}
    >
      {refusal === undefined ? done : refusalText(refusal)}
    </p>
  );
}
