import { spawnSync } from 'node:child_process';
import type { Context } from 'mocha';

const printed = new Set<string>();

/** Skips a test. Prints the reason once, even if several tests have it. */
export function skip(context: Context, reason: string): never {
  if (!printed.has(reason)) console.log(`      skipped: ${reason}`);
  printed.add(reason);
  return context.skip();
}

/** Skips a test if one of these programs is missing. With `CI=true` a missing program is a failure. */
export function requirePrograms(context: Context, ...programs: readonly string[]): void {
  const missing = programs.filter(program => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0);
  if (missing.length === 0) return;
  const reason = `not installed: ${missing.join(', ')}`;
  if (process.env.CI === 'true') throw new Error(reason);
  skip(context, reason);
}
