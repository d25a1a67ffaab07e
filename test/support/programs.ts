import { spawnSync } from 'node:child_process';
import type { Context } from 'mocha';

/** Skips what cannot be tried without these programs, and says so; in CI their absence is a failure. */
export function requirePrograms(context: Context, ...programs: readonly string[]): void {
  const missing = programs.filter(program => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
  if (missing.length === 0) return;
  const reason = `not installed: ${missing.join(', ')}`;
  if (process.env.CI === 'true') throw new Error(reason);
  console.log(`      skipped, ${reason}`);
  context.skip();
}
