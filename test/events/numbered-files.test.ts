import { expect } from 'chai';
import { logFileNames } from '../../src/events/numbered-files.js';

describe('the names of the log files', () => {
  it('sort by their numbers, after the files of 0.2.0, even beyond eight digits', () => {
    const inOrder = ['events.old.jsonl', 'events.jsonl', 'events-99999999.jsonl', 'events-100000000.jsonl'];
    expect(logFileNames([...inOrder].reverse())).to.deep.equal(inOrder);
  });
});
