import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { RobotError } from '../../src/core/errors.js';
import { PROBLEMS } from '../../src/http/problem-table.js';
import { problemOf } from '../../src/http/problems.js';

describe('docs/api.md', () => {
  it('has a table row for the HTTP status 409 that names every error code with this status', () => {
    const [, row = ''] = /^\| 409 \| (.*: .*) \|$/m.exec(readFileSync('docs/api.md', 'utf8')) ?? [];
    const conflicts = Object.entries(PROBLEMS).filter(([, { status }]) => status === 409);
    const missing = conflicts.map(([code]) => code).filter(code => !row.includes(`\`${code}\``));
    expect(missing).to.deep.equal([]);
  });
});

describe('the answer to an act that failed in several ways', () => {
  const units = ['gimbal', 'chassis'];
  const unproven = new RobotError('not-confirmed', { unit: 'gimbal', units });
  const pin = (written: string) => new RobotError('pin-failed', { written });

  it('names each failure once, even if two parts of the act failed in the same way', () => {
    const { problem } = problemOf(pin('dark').beside([pin('lit').beside([unproven]), unproven]));
    expect(problem.also).to.deep.equal(['pin-failed', 'not-confirmed']);
    expect(problem.detail.match(/not confirmed by/g)).to.have.length(1);
  });

  it('names the unit of the first failure in "unit" and the units of a later failure in "units"', () => {
    const { problem } = problemOf(new RobotError('not-confirmed', { unit: 'chassis' }).beside([unproven]));
    expect(problem).to.deep.include({ unit: 'chassis', units });
  });
});

describe('an act that the phase forbids', () => {
  it('is refused with a message that names the phase or, in the phase "none", says that no match runs', () => {
    const detailOf = (phase: string, cure?: string) =>
      problemOf(new RobotError('wrong-phase', { phase, ...(cure && { cure }) })).problem.detail;
    expect(detailOf('pause')).to.equal('The phase pause of the match forbids this. Wait for another phase.');
    expect(detailOf('none', 'No match runs.')).to.equal('This needs a match. No match runs.');
  });
});

describe('if the disk refuses a save, the answer', () => {
  it('says whether the save may be in force after a restart of the daemon', () => {
    for (const [mayRemain, words] of [
      [false, 'could not be kept on disk, so nothing was changed'],
      [true, 'may be found in force after a restart'],
    ] as const) {
      const failed = { operation: 'sync', path: '/state', errno: 'EIO', mayRemain };
      expect(problemOf(new RobotError('storage-failed', failed)).problem.detail).to.contain(words);
    }
  });
});
