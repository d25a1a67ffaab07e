import { expect } from 'chai';
import { logFileNames } from '../../src/events/numbered-files.js';

describe('the names of the log files', () => {
  it('are sorted from the oldest file to the newest, including the names without a number that version 0.2.0 used', () => {
    const inOrder = ['events.old.jsonl', 'events.jsonl', 'events-99999999.jsonl', 'events-100000000.jsonl'];
    expect(logFileNames([...inOrder].reverse())).to.deep.equal(inOrder);
  });
});
