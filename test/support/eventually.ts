/** Looks again until it holds; the test's own timeout ends the wait. For what happens by itself in a running daemon. */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setImmediate(resolve));
}
