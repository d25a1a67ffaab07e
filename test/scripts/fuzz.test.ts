import { atThePort, type Fuzzer, finding, inside } from '../../scripts/fuzz/fuzzer.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

/** Another one each time; a failure prints it, and FUZZ_SEED brings it back. */
const SEED = Number(process.env.FUZZ_SEED ?? Date.now() & 0x7fff_ffff);
/** A machine that runs all tests is busy: only what hangs for good is found here, the rest by `npm run fuzz`. */
const HANG_MS = 10_000;

describe(`odd input of seed ${SEED}`, () => {
  const daemon = simulatedDaemon();
  const findNothing = async (fuzzer: Fuzzer | undefined) => {
    if (fuzzer === undefined) throw new Error('no such fuzzer');
    const found = await finding(fuzzer, SEED, Math.ceil(fuzzer.runsPerSecond / 2));
    if (found !== undefined) throw new Error(found);
  };

  for (const fuzzer of inside(HANG_MS)) {
    it(`is taken or refused in ${fuzzer.name}`, () => findNothing(fuzzer));
  }

  for (const [index, what] of ['requests', 'bytes at the port'].entries()) {
    it(`is answered or refused in ${what}, and changes nothing when it is refused`, async () => {
      const fuzzers = await atThePort(daemon.url, HANG_MS);
      await findNothing(fuzzers[index]);
    });
  }
});
