import { PROBLEMS } from '../../src/http/problem-table.js';

/** Every code, by the status that an answer with it has. */
export function problemTable(): string {
  const rows = Object.entries(PROBLEMS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([code, { status, title }]) => `| ${status} | \`${code}\` | ${title} |`);
  return ['| status | code | title |', '|---|---|---|', ...rows].join('\n');
}
