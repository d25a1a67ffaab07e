import fc from 'fast-check';
import { eventLog } from './event-log.js';
import { configuration, journal } from './files.js';
import { firmware } from './frames.js';
import { jsonOf } from './json-call.js';
import { bytesOf, fuzzedBytes, fuzzedRequests } from './requests.js';
import { RobotTarget } from './robot-target.js';
import { partOf } from './valid-values.js';

export interface Fuzzer {
  readonly name: string;
  /** The number of runs that take about a second on a desktop computer. */
  readonly runsPerSecond: number;
  readonly property: fc.IRawProperty<unknown>;
  /** The number of refused requests after which the state was compared. Undefined if the fuzzer sends no requests. */
  readonly comparisons?: () => number;
}

/** Fuzzers that need no daemon. Reading a file may take at most `hangMs`. */
export const inside = (hangMs: number): readonly Fuzzer[] => [
  { name: 'frames at the firmware', runsPerSecond: 500, property: firmware },
  { name: 'lines in the journal', runsPerSecond: 40, property: journal(hangMs) },
  { name: 'lines in the log of events', runsPerSecond: 40, property: eventLog(hangMs) },
  { name: 'lines in the configuration', runsPerSecond: 200, property: configuration(hangMs) },
];

/** Fuzzers of the daemon at `url`, which runs on the simulated robot. An answer may take at most `hangMs`. */
export async function atThePort(url: string, hangMs: number): Promise<Fuzzer[]> {
  const document = partOf(await jsonOf(url, '/api/openapi.json'));
  const target = new RobotTarget(url, hangMs);
  const requests = fc.asyncProperty(fuzzedRequests(document), request =>
    target.judge(bytesOf(request), { whole: true }),
  );
  const comparisons = () => target.comparisons;
  const bytes = fc.asyncProperty(fuzzedBytes(document), raw => target.judge(raw, { whole: false }));
  return [
    { name: 'requests', runsPerSecond: 60, property: requests, comparisons },
    { name: 'bytes at the port', runsPerSecond: 20, property: bytes, comparisons },
  ];
}

/** Returns a description of the fault found, or undefined. The same seed and number of runs give the same result. */
export async function finding(
  { name, property }: Fuzzer,
  seed: number,
  numRuns: number,
): Promise<string | undefined> {
  const result = await fc.check(property, { seed, numRuns });
  if (!result.failed) return undefined;
  const { errorInstance, counterexample, numRuns: runs } = result;
  const why = errorInstance instanceof Error ? errorInstance.stack : String(errorInstance);
  return `${name}, seed ${seed}, after ${runs} runs:\n${why}\nby ${fc.stringify(counterexample)}`;
}
