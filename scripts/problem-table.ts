import { PROBLEMS } from '../src/http/problems.js';

/** Every code that an answer can carry, by status. */
export function problemTable(): string {
  const rows = Object.entries(PROBLEMS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([code, { status, title }]) => `| ${status} | \`${code}\` | ${title} |`);
  return ['| status | code | title |', '|---|---|---|', ...rows].join('\n');
}
