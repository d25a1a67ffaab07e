import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';

type Parts = typeof import('../later.js');

const parts = signal<Parts | 'missing' | undefined>(undefined);

/** Resolves with undefined where the daemon does not answer. */
export async function fetchParts(): Promise<Parts | undefined> {
  try {
    const fetched = await import('../later.js');
    parts.value = fetched;
    return fetched;
  } catch {
    parts.value = 'missing';
    return undefined;
  }
}

/** What is shown with parts that are fetched for it. */
export function Later({ children }: { readonly children: (parts: Parts) => ComponentChildren }) {
  useEffect(() => void fetchParts(), []);
  if (parts.value === 'missing') {
    return (
      <p class="outcome refusal" role="alert">
        This part of the page could not be fetched. Load the page anew.
      </p>
    );
  }
  return <>{parts.value && children(parts.value)}</>;
}
