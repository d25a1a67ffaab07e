import type { Child } from './child.js';
import { eventually } from './daemon.js';

/** Resolves if the last level that the faulty daemon gave to its laser's pin was dark. */
export async function endsDark(child: Child): Promise<void> {
  await child.exited;
  await eventually(async () => child.lines.findLast(line => line.startsWith('level')) === 'level 0');
}
