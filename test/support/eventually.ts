/**
 * Checks until the condition holds, or until the test times out. Use it for things that a running daemon does without
 * the test.
 */
export async function eventually(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise(resolve => setImmediate(resolve));
}
