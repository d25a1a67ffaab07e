import { setTimeout as delay } from 'node:timers/promises';
import { argumentsOf, refuse, script, withFolder } from '../../scripts/script.js';
import { startCallers } from './callers.js';
import { soakDesk } from './soaked-desk.js';
import { type Insides, SoakedRobot } from './soaked-robot.js';

const { values } = argumentsOf(
  {
    command: 'npm run soak',
    about:
      'A simulated robot under mixed load with faults and log rotation, then with kills. Fails on a leak.',
  },
  {
    minutes: { type: 'string', default: '10', about: 'how long' },
    desk: { type: 'boolean', about: 'instead: a desk with twenty robots, match after match, with faults' },
  },
);
const totalMs = Number(values.minutes) * 60_000;
if (!(totalMs > 0)) refuse(`--minutes takes a number above 0, not "${values.minutes}"`);

/** The share of the run with kills. It comes last, because one process must live through the rest. */
const KILLED_SHARE = 0.2;
/** The share of the rest in which caches fill and code is compiled. It is not measured. */
const WARM_SHARE = 0.3;
/**
 * Growth that is not a leak. Memory: noise, and saves, which take up to 12 MiB until the journal is compacted. Timers: one
 * of a minute for each kind of incident that the log combines.
 */
const ALLOWED: Readonly<Record<'rssMiB' | 'handles' | 'timers', number>> = {
  rssMiB: 24,
  handles: 8,
  timers: 20,
};

await script(() =>
  withFolder('soak', async folder => {
    const complaints: string[] = [];
    if (values.desk) await soakDesk(folder, totalMs, complaints);
    else {
      await live(folder, totalMs * (1 - KILLED_SHARE), complaints);
      await dieOften(folder, totalMs * KILLED_SHARE, complaints);
    }
    for (const complaint of complaints.slice(0, 20)) console.error(complaint);
    console.log(
      complaints.length === 0 ? 'nothing to complain about' : `FAILED: ${complaints.length} complaints`,
    );
    process.exitCode = complaints.length === 0 ? 0 : 1;
  }),
);

/** Runs one process under load, faults and log rotation. Its memory, handles and timers must not grow. */
async function live(folder: string, forMs: number, complaints: string[]): Promise<void> {
  const robot = await SoakedRobot.start(folder);
  const callers = await startCallers(robot, complaints);
  const beganMs = performance.now();
  const seen: Insides[] = [];
  for (let turn = 0; performance.now() - beganMs < forMs; turn += 1) {
    await robot.suffer(complaints);
    if (turn % 5 === 4) robot.rotateLog();
    await delay(300);
    if (performance.now() - beganMs > forMs * WARM_SHARE) seen.push(await robot.insides());
  }
  await callers.stop();
  await robot.agrees(complaints);
  await robot.server.stop();
  // Compares the medians of both halves, which a single outlier does not move.
  const half = Math.floor(seen.length / 2);
  for (const what of ['rssMiB', 'handles', 'timers'] as const) {
    const [first, last] = [seen.slice(0, half), seen.slice(half)].map(part =>
      middleOf(part.map(one => one[what])),
    );
    const grown = 2 * ((last ?? 0) - (first ?? 0));
    console.log(`${what}: grew by ${grown.toFixed(1)}`);
    if (grown > ALLOWED[what]) complaints.push(`leak: ${what} grew by ${grown.toFixed(1)}`);
  }
  const longestMs = Math.max(...seen.map(one => one.longestTurnMs));
  console.log(`${callers.requests} requests; longest turn of the event loop ${longestMs.toFixed(0)} ms`);
}

/** Kills the daemon under load and restarts it, many times. Every acknowledged save must survive. */
async function dieOften(folder: string, forMs: number, complaints: string[]): Promise<void> {
  const untilMs = performance.now() + forMs;
  let kills = 0;
  let robot = await SoakedRobot.start(folder);
  while (performance.now() < untilMs) {
    const callers = await startCallers(robot, complaints);
    await delay(500 + Math.random() * 2500);
    const stopping = callers.stop();
    await robot.server.stop('SIGKILL');
    const saved = await stopping;
    kills += 1;
    robot = await SoakedRobot.start(folder);
    await robot.keeps(saved, complaints);
  }
  await robot.server.stop();
  console.log(`${kills} kills`);
}

function middleOf(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
