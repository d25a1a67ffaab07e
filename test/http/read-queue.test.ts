import { expect } from 'chai';
import { ReadQueue } from '../../src/http/read-queue.js';

describe('waiting read requests', () => {
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

  it('leave the queue four per iteration of the event loop, beginning with the iteration after their arrival', async () => {
    arrive(9, 'stranger');
    await Promise.resolve();
    expect(left).to.deep.equal([]);
    expect((await turn()).length).to.equal(4);
    expect((await turn()).length).to.equal(4);
    expect((await turn()).length).to.equal(1);
    expect(takes).to.deep.equal([]);
  });

  it('of callers with a right leave the queue before older requests of callers without a right', async () => {
    arrive(250, 'stranger');
    await turn();
    arrive(1, 'referee');
    expect(await turn()).to.deep.equal(['referee', 'stranger', 'stranger', 'stranger']);
  });

  it('of callers with a right leave the queue all at once after a wait of 100 ms', async () => {
    arrive(10, 'referee');
    nowMs = 100;
    expect((await turn()).length).to.equal(10);
  });

  it('of callers without a right leave the queue four at a time after 100 ms, even while callers with a right wait', async () => {
    arrive(10, 'stranger');
    nowMs = 99;
    arrive(8, 'referee');
    expect(await turn()).to.deep.equal(Array(4).fill('referee'));
    nowMs = 100;
    expect(await turn()).to.deep.equal([...Array(4).fill('referee'), ...Array(4).fill('stranger')]);
  });
});
