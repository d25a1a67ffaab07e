/**
 * Waits until all acts have ended, so that nothing of them comes later. Rejects with the error of the first that
 * failed.
 */
export async function allEnded(acts: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  const ends = await Promise.allSettled(acts);
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
}
