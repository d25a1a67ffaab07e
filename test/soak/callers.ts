import { setTimeout as delay } from 'node:timers/promises';
import { Connection, openStream, request } from '../../scripts/bench/connection.js';
import { gainsBody } from '../../scripts/bench/gains-body.js';
import { type SoakedRobot, UNITS } from './soaked-robot.js';

/**
 * The time limit of a request. It is longer than the daemon ever takes, because the machine is also busy with other
 * work.
 */
const ANSWER_MS = 5000;
/** The statuses that are allowed during faults. */
const EXPECTED = new Set([200, 400, 409, 503]);

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
  /** The number of answered requests. */
  readonly requests: number;
  /**
   * Ends all callers. Returns the kp values that may be in force in each unit: the kp of the last save answered 200, and
   * the kp of a save without an answer.
   */
  stop(): Promise<ReadonlyMap<string, readonly number[]>>;
}

/**
 * Starts readers, callers that act, a saver for each unit, one that switches the laser, and streams that connect and
 * disconnect.
 */
export async function startCallers(robot: SoakedRobot, complaints: string[]): Promise<Callers> {
  const { port } = robot.server;
  let stopped = false;
  let requests = 0;
  const saved = new Map<string, readonly number[]>();
  for (const unit of UNITS) saved.set(unit, [await robot.kpInForce(unit)]);

  const ask = async (connection: Connection, method: string, path: string, body?: unknown) => {
    const late = delay(ANSWER_MS, undefined, { ref: false });
    const answer = await Promise.race([connection.send(request(method, path, body)), late]);
    if (stopped) return undefined;
    requests += 1;
    if (answer === undefined) complaints.push(`unanswered: ${method} ${path}`);
    else if (!EXPECTED.has(answer.status))
      complaints.push(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer;
  };
  const loop = async (act: (connection: Connection, turn: number) => Promise<void>) => {
    const connection = await Connection.open(port);
    for (let turn = 0; !stopped; turn += 1) await act(connection, turn);
    connection.close();
  };

  const read = async (connection: Connection, turn: number) => {
    await ask(connection, 'GET', READS[turn % READS.length] ?? '/');
    await delay(Math.random() * 20);
  };
  const act = async (connection: Connection) => {
    const [path, body] = ACTS[Math.floor(Math.random() * ACTS.length)] ?? ['/api/resume', undefined];
    await ask(connection, 'POST', path, body);
    await delay(Math.random() * 200);
  };
  const save = (unit: 'gimbal' | 'chassis') => async (connection: Connection, turn: number) => {
    const before = saved.get(unit) ?? [];
    const kp = 1 + (turn % 1000) / 1000;
    saved.set(unit, [...before.slice(-1), kp]);
    const answer = await ask(connection, 'POST', `/api/${unit}/pidconfig`, gainsBody(unit, turn));
    if (answer !== undefined) saved.set(unit, answer.status === 200 ? [kp] : before.slice(-1));
    await delay(50);
  };
  const laser = async (connection: Connection) => {
    await ask(connection, 'POST', '/api/laser', { action: 'on' });
    await delay(20);
    const off = await ask(connection, 'POST', '/api/laser', { action: 'off' });
    const truth = off?.status === 200 ? await ask(connection, 'GET', '/sim/state') : undefined;
    if (truth?.status === 200 && !truth.text.includes('"laser":{"level":0}')) {
      complaints.push('the laser was lit after its off was answered 200');
    }
  };
  const stream = async () => {
    while (!stopped) {
      const socket = await openStream(port);
      await delay(Math.random() * 500);
      socket.destroy();
    }
  };

  const loops = [read, read, act, act, save('gimbal'), save('chassis'), laser].map(loop);
  const running = [...loops, stream(), stream(), stream()].map(one =>
    one.catch((error: Error) => {
      if (!stopped) complaints.push(`connection: ${error.message}`);
    }),
  );
  return {
    get requests() {
      return requests;
    },
    stop: async () => {
      stopped = true;
      await Promise.all(running);
      return saved;
    },
  };
}
