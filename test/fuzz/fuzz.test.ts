import { expect } from 'chai';
import fc from 'fast-check';
import { simulatedDaemon } from '../support/simulated-daemon.js';
import { atThePort, type Fuzzer, finding, inside } from './fuzzer.js';
import { call } from './json-call.js';
import { fuzzedRequests } from './requests.js';
import { partOf } from './valid-values.js';

/** A fixed seed. `npm run fuzz` draws a new one. */
const SEED = 1;
/** A machine that runs all tests is busy. Here only a hang is a failure; `npm run fuzz` finds slow answers. */
const HANG_MS = 10_000;

describe(`fuzzed input of seed ${SEED}`, () => {
  const daemon = simulatedDaemon();
  const findNothing = async (fuzzer: Fuzzer | undefined) => {
    if (fuzzer === undefined) throw new Error('no such fuzzer');
    const found = await finding(fuzzer, SEED, Math.ceil(fuzzer.runsPerSecond / 2));
    if (found !== undefined) throw new Error(found);
  };

  it("reaches every documented call except the simulator's two", async () => {
    const document = partOf(await call(new URL('/api/openapi.json', daemon.url)));
    const documented = Object.entries(partOf(document.paths)).flatMap(([path, item]) =>
      Object.keys(partOf(item)).map(method => `${method.toUpperCase()} ${path}`),
    );
    const sent = fc.sample(fuzzedRequests(document), { numRuns: 100 * documented.length, seed: SEED });
    const reached = new Set(sent.map(({ method, path }) => `${method} ${path}`));
    const left = documented.filter(one => !reached.has(one));
    expect(left).to.deep.equal(['GET /sim/state', 'POST /sim/faults']);
  });

  for (const fuzzer of inside(HANG_MS)) {
    it(`as ${fuzzer.name} is accepted or refused, and causes no defect`, () => findNothing(fuzzer));
  }

  for (const [index, what] of ['requests', 'bytes at the port'].entries()) {
    it(`as ${what} is answered or refused, and changes nothing if it is refused`, async () => {
      const fuzzers = await atThePort(daemon.url, HANG_MS);
      await findNothing(fuzzers[index]);
    });
  }
});
