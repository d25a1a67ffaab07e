import { expect } from 'chai';
import { Random } from '../support/random.js';
import { BrokenPromise } from './broken-promise.js';
import { Candidates } from './candidates.js';
import type { History } from './history.js';
import { testOf } from './print-test.js';
import { randomHistory } from './random-history.js';
import { randomWalks, type Walked } from './random-walks.js';
import { shrink } from './shrink.js';
import { walk } from './walk.js';

const STEPS = 1000;
/** A fixed seed, so that the test repeats. `npm run walk` draws a new one. */
const SEED = 1;

describe('the random test “npm run walk”', () => {
  it(`finds no broken rule of the daemon in ${STEPS} random steps (requests, faults, restarts and pauses)`, async function () {
    this.timeout(300_000);
    for await (const { found } of randomWalks(SEED, STEPS)) {
      if (found === undefined) continue;
      const test = testOf(await shrink(found, walk));
      expect.fail(`${found.broken.message}\nseed ${SEED}; as a test:\n${test}`);
    }
  });

  it('gives the same results each time that it starts from the same seed', async () => {
    const all = async () => {
      const walked: Walked[] = [];
      for await (const one of randomWalks(1, 60)) walked.push(one);
      return walked;
    };
    const first = await all();
    expect(first.at(-1)?.robotMs).to.be.greaterThan(1000);
    expect(await all()).to.deep.equal(first);
  });

  it('shortens a list of steps that breaks a rule to the fewest and simplest steps that still break that rule', async () => {
    const usual = randomHistory(new Random(3), 40);
    const history: History = {
      ...usual,
      steps: [
        ...usual.steps.filter(step => step.do !== 'wait' && step.do !== 'interlock').slice(0, 20),
        { do: 'interlock', closed: false },
        { do: 'settle' },
        { do: 'wait', ms: 2000 },
      ],
    };
    const broken = new BrokenPromise('wait', 'waits with an open contact');
    const fails = async ({ steps }: History) => {
      const opened = steps.findIndex(step => step.do === 'interlock');
      const isBroken = steps.some((step, at) => step.do === 'wait' && opened >= 0 && at > opened);
      return { broken: isBroken ? broken : undefined };
    };
    const { history: shortest } = await shrink({ history, broken }, fails);
    expect(shortest.steps).to.deep.equal([
      { do: 'interlock', closed: false },
      { do: 'wait', ms: 1 },
    ]);
    expect(testOf({ history: shortest, broken })).to.include('{"do":"wait","ms":1},');
  });

  it('accepts the value of either of two writes that overlap in time, until a later write is confirmed', () => {
    const value = new Candidates('first');
    value.sure('second', 1, 4);
    value.sure('third', 3, 5);
    expect(value.values).to.deep.equal(['second', 'third']);
    value.maybe('fourth', 6, 7);
    expect(value.can('second')).to.equal(true);
    value.sure('fifth', 8, 9);
    expect(value.values).to.deep.equal(['fifth']);
  });
});
