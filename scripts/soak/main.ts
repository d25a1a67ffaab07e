/**
 * npm run soak [-- --minutes N]: a simulated robot under mixed load, with faults, log rotation, and kills at the end.
 * npm run soak -- --requests N --streams N: so many of each, without faults.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { slope } from '../bench/statistics.js';
import { optionsOf, refuse, script, wholeNumberOf, withFolder } from '../script.js';
import { startCallers } from './callers.js';
import { Complaints } from './complaints.js';
import { answerMany } from './many.js';
import { type Insides, SoakedRobot } from './soaked-robot.js';

/** Nothing may hold the event loop for longer. */
const HELD_MS = 50;
/**
 * The share of the run with kills. They come after the part that is fitted, which one process has to live through.
 */
const KILLED_SHARE = 0.2;
/** The share of the fitted part that is left out, while caches fill and code is compiled. */
const WARM_SHARE = 0.3;
/**
 * How much memory may be gained over the fitted time without a leak: by noise; by saves, of which some 12 MiB are held
 * until the journal is compacted at 4 MiB; and by a timer for a minute for each kind of incident.
 */
const ALLOWED = { rssMiB: 24, handles: 8, timers: 20 } as const;

const asked = optionsOf({
  minutes: { type: 'string', default: '10' },
  requests: { type: 'string', default: '0' },
  streams: { type: 'string', default: '0' },
});
const totalMs = Number(asked.minutes) * 60_000;
if (!(totalMs > 0)) refuse('--minutes takes a number above 0');
const many = {
  requests: wholeNumberOf('requests', asked.requests, 0),
  streams: wholeNumberOf('streams', asked.streams, 0),
};
const complaints = new Complaints();

await script(() =>
  withFolder('soak', async folder => {
    if (many.requests + many.streams > 0) {
      const robot = await SoakedRobot.start(folder);
      await answerMany(robot, many, complaints);
      await robot.server.stop();
    } else {
      await live(folder, totalMs * (1 - KILLED_SHARE));
      await dieOften(folder, totalMs * KILLED_SHARE);
    }
    for (const line of complaints.lines) console.error(line);
    console.log(complaints.lines.length === 0 ? 'nothing to complain about' : 'FAILED');
    process.exitCode = complaints.lines.length === 0 ? 0 : 1;
  }),
);

/** One process under load, faults and log rotation, whose memory, handles and timers must not grow. */
async function live(folder: string, forMs: number): Promise<void> {
  const robot = await SoakedRobot.start(folder);
  const callers = await startCallers(robot, complaints);
  const startMs = performance.now();
  const seen: (Insides & { readonly atMs: number })[] = [];
  for (let turn = 0; performance.now() - startMs < forMs; turn += 1) {
    await robot.suffer(complaints);
    if (turn % 5 === 4) robot.rotateLog();
    await delay(300);
    const insides = await robot.insides();
    seen.push({ ...insides, atMs: performance.now() - startMs });
    // The first turn starts a process cold.
    if (insides.busyMs > HELD_MS && turn > 0) {
      complaints.add('event loop', `held for ${insides.busyMs.toFixed(0)} ms`);
    }
  }
  const { requests, streams } = callers.counts();
  await callers.stop();
  await robot.rests(complaints);
  const withheldS = robot.clock.withheldMs / 1000;
  await robot.server.stop();
  const warm = seen.filter(({ atMs }) => atMs > forMs * WARM_SHARE);
  const lastMs = forMs * (1 - WARM_SHARE);
  for (const [what, allowed] of Object.entries(ALLOWED)) {
    const values = warm.map(one => [one.atMs, memberOf(one, what)] as const);
    const grown = warm.length < 2 ? 0 : slope(values) * lastMs;
    const [first, last] = [values[0]?.[1] ?? 0, values.at(-1)?.[1] ?? 0];
    console.log(`${what}: ${first.toFixed(0)} to ${last.toFixed(0)}, fitted growth ${grown.toFixed(1)}`);
    if (grown > allowed)
      complaints.add(
        'leak',
        `${what} grew by ${grown.toFixed(1)} in ${(lastMs / 60_000).toFixed(1)} minutes`,
      );
  }
  const most = (pick: (one: Insides) => number) => Math.max(...seen.slice(1).map(pick)).toFixed(0);
  console.log(
    `event loop: held ${most(one => one.busyMs)} ms at most, late ${most(one => one.lateMs)} ms at most`,
  );
  console.log(`${requests} requests, ${streams} streams, ${seen.length} faults`);
  console.log(`waited ${withheldS.toFixed(0)} s for a processor, which no limit counts`);
}

/** Killed under load and started again, over and over: what was answered 200 is there. */
async function dieOften(folder: string, forMs: number): Promise<void> {
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

function memberOf(insides: Insides, what: string): number {
  if (what === 'rssMiB') return insides.rssMiB;
  return what === 'timers' ? insides.timers : insides.handles;
}
