import { expect } from 'chai';
import fc from 'fast-check';
import { simulatedDaemon } from '../support/simulated-daemon.js';
import { atThePort, type Fuzzer, finding, inside } from './fuzzer.js';
import { jsonOf } from './json-call.js';
import { fuzzedRequests } from './requests.js';
import { partOf } from './valid-values.js';

/** A fixed seed. `npm run fuzz` draws a new one. */
const SEED = 1;
/** A machine that runs all tests is busy. Here only a hang is a failure; `npm run fuzz` finds slow answers. */
const HANG_MS = 10_000;
/** What must be true of the input of each fuzzer, by the fuzzer's name. */
const PROMISES: Readonly<Record<string, string>> = {
  'frames at the firmware':
    'the simulated firmware throws no exception, and an invalid frame changes only fault flags and the count of refusals',
  'lines in the journal':
    'if the journal of gains is damaged, the newest undamaged save of each unit stays in force',
  'lines in the log of events':
    'damage to the event log is detected (except lost lines at the start and added lines at the end), and new events are still logged',
  'lines in the configuration':
    'a configuration file is accepted, or is refused with messages that each name the file',
  requests: 'every HTTP request is answered without an internal error, and a refused request changes nothing',
  'bytes at the port':
    'raw bytes at the HTTP port cause no internal error, and a refused request changes nothing',
};

describe(`with random input (fuzzing, seed ${SEED}),`, () => {
  const daemon = simulatedDaemon();
  const findNothing = async (fuzzer: Fuzzer | undefined) => {
    if (fuzzer === undefined) throw new Error('no such fuzzer');
    const found = await finding(fuzzer, SEED, Math.ceil(fuzzer.runsPerSecond / 2));
    if (found !== undefined) throw new Error(found);
  };

  it('the requests cover every documented call except the two that only the simulator has', async () => {
    const document = partOf(await jsonOf(daemon.url, '/api/openapi.json'));
    const documented = Object.entries(partOf(document.paths)).flatMap(([path, item]) =>
      Object.keys(partOf(item)).map(method => `${method.toUpperCase()} ${path}`),
    );
    const sent = fc.sample(fuzzedRequests(document), { numRuns: 100 * documented.length, seed: SEED });
    const reached = new Set(sent.map(({ method, path }) => `${method} ${path}`));
    const left = documented.filter(one => !reached.has(one));
    expect(left).to.deep.equal(['GET /sim/state', 'POST /sim/faults']);
  });

  for (const fuzzer of inside(HANG_MS)) {
    it(PROMISES[fuzzer.name] ?? fuzzer.name, () => findNothing(fuzzer));
  }

  for (const [index, what] of ['requests', 'bytes at the port'].entries()) {
    it(PROMISES[what] ?? what, async () => {
      const fuzzers = await atThePort(daemon.url, HANG_MS);
      await findNothing(fuzzers[index]);
      expect(fuzzers[index]?.comparisons?.()).to.be.greaterThan(0);
    });
  }
});
