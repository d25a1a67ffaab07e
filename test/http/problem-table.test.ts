import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PROBLEMS } from '../../src/http/problem-table.js';

describe('docs/operating.md', () => {
  it('says of every conflict what to do', () => {
    const [, row = ''] = /^\| 409 \| (.*: .*) \|$/m.exec(readFileSync('docs/operating.md', 'utf8')) ?? [];
    const conflicts = Object.entries(PROBLEMS).filter(([, { status }]) => status === 409);
    const missing = conflicts.map(([code]) => code).filter(code => !row.includes(`\`${code}\``));
    expect(missing).to.deep.equal([]);
  });
});
