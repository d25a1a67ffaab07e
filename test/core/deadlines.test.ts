import { expect } from 'chai';
import type { Clock } from '../../src/core/clock.js';
import { Deadlines, NEVER } from '../../src/core/deadlines.js';
import { ManualClock } from '../support/manual-clock.js';

describe('the actions of deadlines', () => {
  let clock: ManualClock;
  let deadlines: Deadlines;
  let passed: string[];
  const at = (atMs: number, name: string) => {
    const deadline = deadlines.make(() => passed.push(name));
    deadline.set(atMs);
    return deadline;
  };
  beforeEach(() => {
    clock = new ManualClock();
    deadlines = new Deadlines(clock);
    passed = [];
  });

  it('run when the deadlines pass, even if no code checks the deadlines', async () => {
    at(20, 'second');
    at(10, 'first');
    await clock.advance(10);
    expect(passed).to.deep.equal(['first']);
    await clock.advance(10);
    expect(passed).to.deep.equal(['first', 'second']);
  });

  it('run at the next check if the timer is late, once each and in the order of the deadlines', async () => {
    for (const [atMs, name] of [
      [20, 'second'],
      [10, 'first'],
      [20, 'third'],
      [31, 'later'],
    ] as const)
      at(atMs, name);
    clock.late(30);
    expect(passed).to.deep.equal([]);
    deadlines.judge();
    expect(passed).to.deep.equal(['first', 'second', 'third']);
    await clock.advance(1);
    expect(passed).to.deep.equal(['first', 'second', 'third', 'later']);
  });

  it('run at the new time if their deadline was moved, and never run if their deadline was removed', async () => {
    const moved = at(10, 'moved');
    moved.set(25);
    at(20, 'unset').set(NEVER);
    await clock.advance(24);
    expect([passed, moved.atMs]).to.deep.equal([[], 25]);
    await clock.advance(10);
    expect([passed, moved.atMs]).to.deep.equal([['moved'], NEVER]);
    at(40, 'closed');
    deadlines.close();
    await clock.advance(30);
    expect(passed).to.deep.equal(['moved']);
  });

  it('run one after the other, even if the first action checks all deadlines again', () => {
    const first = deadlines.make(() => {
      deadlines.judge();
      passed.push('first');
    });
    first.set(10);
    at(10, 'second');
    clock.late(10);
    deadlines.judge();
    expect(passed).to.deep.equal(['first', 'second']);
  });

  it('never run early, even if the timer fires early', async () => {
    const after: Clock['after'] = (delayMs, act) => clock.after(0.9 * delayMs, act);
    const early = new Deadlines({ nowMs: () => clock.nowMs(), wallTime: () => clock.wallTime(), after });
    early.make(() => passed.push('in time')).set(1000);
    await clock.advance(999.9);
    expect(passed).to.deep.equal([]);
    await clock.advance(0.1);
    expect(passed).to.deep.equal(['in time']);
  });
});
