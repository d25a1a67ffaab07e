import type { ComponentChildren } from 'preact';
import { useModel } from '../parts/console.js';

/** Whether the daemon is heard; the children stand there while it is. */
export function LinkState({ children }: { readonly children: ComponentChildren }) {
  const { status, fresh, deafness } = useModel();
  const state = fresh.value ? 'live' : status.value === undefined ? 'connecting' : 'stale';
  return (
    <span class="link" role="status" data-state={state}>
      {(!fresh.value && deafness.value) ||
        { live: children, connecting: 'Connecting…', stale: 'No contact' }[state]}
    </span>
  );
}
