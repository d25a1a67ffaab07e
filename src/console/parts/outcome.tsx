import { type Act, refusalText } from './act.js';

/** How an act went, beside the thing it was about. Its line is kept free, so that nothing moves when it speaks. */
export function Outcome({ act, pending }: { readonly act: Act; readonly pending?: string }) {
  const refusal = act.refusal.value;
  const done = act.pending.value === undefined ? act.done.value : pending;
  return (
    <p
      class={refusal === undefined ? 'outcome' : 'outcome refusal'}
      role={refusal === undefined ? 'status' : 'alert'}
    >
      {refusal === undefined ? done : refusalText(refusal)}
    </p>
  );
}
