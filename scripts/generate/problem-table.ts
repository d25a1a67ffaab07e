import { PROBLEMS } from '../../src/http/problem-table.js';

/** A Markdown table of every code, sorted by HTTP status. */
export function problemTable(): string {
  const rows = Object.entries(PROBLEMS)
    .sort(([, a], [, b]) => a.status - b.status)
    .map(([code, { status, title }]) => `| ${status} | \`${code}\` | ${title} |`);
  return ['| status | code | title |', '|---|---|---|', ...rows].join('\n');
}
