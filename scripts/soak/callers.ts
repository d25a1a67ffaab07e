import { setTimeout as delay } from 'node:timers/promises';
import { Connection, openStream, request } from '../bench/connection.js';
import { gainsBody } from '../bench/gains-body.js';
import type { Complaints } from './complaints.js';
import { type SoakedRobot, UNITS } from './soaked-robot.js';

/** Everything is answered by then. */
const ANSWER_MS = 1200;
/** The statuses that a robot with faults may answer. */
const EXPECTED = new Set([200, 400, 404, 405, 409, 503]);

const READS = [
  '/',
  '/healthz',
  '/api/status',
  '/api/gimbal/pidconfig',
  '/api/chassis/pidconfig/history?limit=50',
];
const ACTS: readonly (readonly [path: string, body: unknown])[] = [
  ['/api/gimbal/mode/switch', { mode: 'auto' }],
  ['/api/gimbal/mode/switch', { mode: 'debug' }],
  ['/api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 }],
  ['/api/chassis/mode/switch', { mode: 'manual' }],
  ['/api/chassis/mode/switch', { mode: 'auto' }],
  ['/api/gimbal/mode/switch', { mode: 'sideways' }],
  ['/api/stop', undefined],
  ['/api/resume', undefined],
];

export interface Callers {
  /** The numbers so far. */
  counts(): { requests: number; streams: number };
  /** The gains in force by unit, with those of a save still unanswered. */
  stop(): Promise<ReadonlyMap<string, readonly number[]>>;
}

/** Readers, actors, a saver for each unit, one who switches the laser, and streams that come and go. */
export async function startCallers(robot: SoakedRobot, complaints: Complaints): Promise<Callers> {
  const {
    clock,
    server: { port },
  } = robot;
  let stopped = false;
  let requests = 0;
  let streams = 0;
  const saved = new Map<string, readonly number[]>();
  for (const unit of UNITS) saved.set(unit, [await robot.kpInForce(unit)]);

  const asking = async (connection: Connection, bytes: Buffer) => {
    const answer = await clock.within(ANSWER_MS, connection.send(bytes));
    if (stopped) return undefined;
    requests += 1;
    const head = bytes.subarray(0, bytes.indexOf('\r\n'));
    if (answer === undefined) complaints.add('unanswered', String(head));
    else if (!EXPECTED.has(answer.status))
      complaints.add('answer', `${answer.status} ${answer.text} to ${head}`);
    return answer;
  };
  const loop = async (act: (connection: Connection, turn: number) => Promise<void>) => {
    const connection = await Connection.open(port);
    for (let turn = 0; !stopped; turn += 1) await act(connection, turn);
    connection.close();
  };

  const read = (connection: Connection, turn: number) =>
    asking(connection, request('GET', READS[turn % READS.length] ?? '/')).then(() =>
      delay(Math.random() * 20),
    );
  const act = async (connection: Connection) => {
    const [path, body] = ACTS[Math.floor(Math.random() * ACTS.length)] ?? ['/api/resume', undefined];
    await asking(connection, request('POST', path, body));
    await delay(Math.random() * 200);
  };
  const save = (unit: 'gimbal' | 'chassis') => async (connection: Connection, turn: number) => {
    const body = gainsBody(unit, turn);
    const kp = 1 + (turn % 1000) / 1000;
    const before = saved.get(unit) ?? [];
    saved.set(unit, [...before.slice(-1), kp]);
    const answer = await asking(connection, request('POST', `/api/${unit}/pidconfig`, body));
    if (answer !== undefined) saved.set(unit, answer.status === 200 ? [kp] : before.slice(-1));
    await delay(50);
  };
  const laser = async (connection: Connection) => {
    await asking(connection, request('POST', '/api/laser', { action: 'on' }));
    await delay(20);
    const off = await asking(connection, request('POST', '/api/laser', { action: 'off' }));
    const truth = off?.status === 200 ? await asking(connection, request('GET', '/sim/state')) : undefined;
    if (truth?.status === 200 && !truth.text.includes('"laser":{"level":0}')) {
      complaints.add('promise', 'the laser was lit after its off was answered 200');
    }
  };
  const stream = async () => {
    while (!stopped) {
      const socket = await openStream(port);
      streams += 1;
      await delay(Math.random() * 500);
      socket.destroy();
    }
  };

  const all = [loop(read), loop(read), loop(act), loop(act), loop(save('gimbal')), loop(save('chassis'))];
  const running = [...all, loop(laser), stream(), stream(), stream()].map(one =>
    one.catch((error: Error) => {
      if (!stopped) complaints.add('connection', error.message);
    }),
  );
  return {
    counts: () => ({ requests, streams }),
    stop: async () => {
      stopped = true;
      await Promise.all(running);
      return saved;
    },
  };
}
