/** Waits for the end of all, so that nothing of them comes later, and rejects as the first that did. */
export async function allEnded(acts: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const ends = await Promise.allSettled(acts);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
