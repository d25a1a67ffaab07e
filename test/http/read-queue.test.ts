import { expect } from 'chai';
import { ReadQueue } from '../../src/http/read-queue.js';

describe('the queue of read requests', () => {
  let nowMs: number;
  let takes: (() => void)[];
  let left: string[];
  let queue: ReadQueue;

  beforeEach(() => {
    nowMs = 0;
    takes = [];
    left = [];
    queue = new ReadQueue(
      () => nowMs,
      take => takes.push(take),
    );
  });

  const arrive = (count: number, caller: 'stranger' | 'referee') => {
    for (let index = 0; index < count; index += 1) {
      void queue.wait(caller === 'referee').then(() => left.push(caller));
    }
  };
  /** The callers whose reads leave in the next turn. */
  const turn = async () => {
    left = [];
    for (const take of takes.splice(0)) take();
    await Promise.resolve();
    return left;
  };

  it('releases four reads in each turn of the event loop, beginning with the turn after their arrival', async () => {
    arrive(9, 'stranger');
    await Promise.resolve();
    expect(left).to.deep.equal([]);
    expect((await turn()).length).to.equal(4);
    expect((await turn()).length).to.equal(4);
    expect((await turn()).length).to.equal(1);
    expect(takes).to.deep.equal([]);
  });

  it('releases a read of a caller with a right before earlier reads of callers without a right', async () => {
    arrive(250, 'stranger');
    await turn();
    arrive(1, 'referee');
    expect(await turn()).to.deep.equal(['referee', 'stranger', 'stranger', 'stranger']);
  });

  it('releases all reads of callers with a right in one turn of the event loop if they have waited for 100 ms', async () => {
    arrive(10, 'referee');
    nowMs = 100;
    expect((await turn()).length).to.equal(10);
  });

  it('releases four reads of callers without a right that have waited for 100 ms in the same turn as four reads of callers with a right', async () => {
    arrive(10, 'stranger');
    nowMs = 99;
    arrive(8, 'referee');
    expect(await turn()).to.deep.equal(Array(4).fill('referee'));
    nowMs = 100;
    expect(await turn()).to.deep.equal([...Array(4).fill('referee'), ...Array(4).fill('stranger')]);
  });
});
