import { expect } from 'chai';
import { logFileNames } from '../../src/events/numbered-files.js';

describe('the names of the log files', () => {
  it('are sorted by number, even beyond eight digits, after the names of the files of 0.2.0', () => {
    const inOrder = ['events.old.jsonl', 'events.jsonl', 'events-99999999.jsonl', 'events-100000000.jsonl'];
    expect(logFileNames([...inOrder].reverse())).to.deep.equal(inOrder);
  });
});
