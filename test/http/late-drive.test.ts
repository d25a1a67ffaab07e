import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { expect } from 'chai';
import { RawClient, requestText } from '../support/raw-client.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

/** Keeps the event loop busy for this time. */
function block(ms: number): void {
  const untilMs = performance.now() + ms;
  while (performance.now() < untilMs);
}

/** The answer to a request whose bytes the kernel has before the daemon is busy for 100 ms. */
async function lateAnswer(socket: Socket, path: string, body: object): Promise<string> {
  socket.write(requestText('/api/laser', { action: 'off' }));
  await once(socket, 'data');
  // Node gives these bytes to the kernel at once.
  socket.write(requestText(path, body));
  block(100);
  const [answer] = await once(socket, 'data');
  socket.destroy();
  return String(answer);
}

describe('if a drive command waits for a busy daemon for longer than its `holdMs` (50 ms),', () => {
  const daemon = simulatedDaemon();

  const network = () => connect(daemon.port, '127.0.0.1');
  const local = () => connect(daemon.rootSocket);

  for (const [what, speed, answers, open] of [
    ['a command to move is refused as `too-late`', 0.5, /^HTTP\/1.1 409 .*"too-late"/s, network],
    [
      'a command to move is refused as `too-late` even over the local socket of root',
      0.5,
      /^HTTP\/1.1 409 .*"too-late"/s,
      local,
    ],
    ['a command to stand still is accepted', 0, /^HTTP\/1.1 200/, network],
  ] as const)
    it(what, async () => {
      await daemon.post('/api/chassis/mode/switch', { mode: 'manual' });
      const command = { chassis: { speed, turn: 0 }, holdMs: 50, id: 'a' };
      expect(await lateAnswer(open(), '/api/drive', command)).to.match(answers);
    });
});

/**
 * A client in a thread of its own. While the daemon is busy, it opens one connection for each of `strangers`, sends `older`
 * on a new connection, and 200 ms later `newer` on a connection that is open already. (Within 50 ms and a poll, the daemon
 * takes either order.) It sets `sent[0]` to 1 as soon as the kernel has both.
 */
const CLIENT = `
  const { once } = require('node:events');
  const { connect } = require('node:net');
  const { setTimeout: wait } = require('node:timers/promises');
  const { parentPort, workerData: { port, olderAt, first, strangers, older, newer, sent } } = require('node:worker_threads');
  const opened = async (at = { port, host: '127.0.0.1' }) => {
    const socket = connect(at);
    await once(socket, 'connect');
    return socket;
  };
  const write = (socket, text) => new Promise(resolve => socket.write(text, resolve));
  const act = async () => {
    const open = await opened();
    open.write(first);
    // An answer shows that the daemon has accepted the connection.
    await once(open, 'data');
    parentPort.postMessage('open');
    await once(parentPort, 'message');
    for (let count = 0; count < strangers; count += 1) await opened();
    const late = await opened(olderAt);
    const answers = Promise.all([once(late, 'data'), once(open, 'data')]);
    await write(late, older);
    await wait(200);
    await write(open, newer);
    Atomics.store(sent, 0, 1);
    Atomics.notify(sent, 0);
    parentPort.postMessage((await answers).map(String));
  };
  act();
`;

describe('if a busy daemon reads the newer of two requests first,', () => {
  const daemon = simulatedDaemon();
  /** The statuses of both requests. */
  const statuses = async (strangers: number, older: string, newer: string, olderAt?: { path: string }) => {
    const sent = new Int32Array(new SharedArrayBuffer(4));
    const first = requestText('/api/laser', { action: 'off' });
    const workerData = { port: daemon.port, olderAt, first, strangers, older, newer, sent };
    const client = new Worker(CLIENT, { eval: true, workerData });
    await once(client, 'message');
    client.postMessage('go');
    // Keeps the event loop busy until then.
    expect(Atomics.wait(sent, 0, 0, 10_000)).to.not.equal('timed-out');
    const [answers] = await once(client, 'message');
    await client.terminate();
    return answers.map((answer: string) => Number(answer.slice(9, 12)));
  };

  for (const strangers of [0, 20])
    it(`the older laser-on request is refused and the newer laser-off is obeyed (${strangers} new connections ahead of the older request)`, async () => {
      const laser = (action: string) => requestText('/api/laser', { action });
      expect(await statuses(strangers, laser('on'), laser('off'))).to.deep.equal([409, 200]);
      expect((await daemon.get('/api/status')).body.laser.light).to.equal('dark');
    });

  it('the older `match clear` of root is refused and the robot stays in the newer phase `pre`', async () => {
    const call = (revision: number, phase: string) =>
      requestText('/api/match', { id: 'M1', revision, phase, remainingS: null });
    await daemon.post('/api/match', { id: 'M1', revision: 1, phase: 'ended', remainingS: null });
    const olderAt = { path: daemon.rootSocket };
    expect(await statuses(0, requestText('/api/match/clear', {}), call(2, 'pre'), olderAt)).to.deep.equal([
      409, 200,
    ]);
    expect((await daemon.get('/api/match')).body.phase).to.equal('pre');
    await daemon.post('/api/match', { id: 'M1', revision: 3, phase: 'none', remainingS: null });
  });

  it('the older unlock is refused and the robot stays locked, even if the newer lock has the id of the lock in force', async () => {
    const id = 'L1';
    await daemon.post('/api/match/lock', { id, reason: 'inspection' });
    for (const body of [{}, { lock: id }]) {
      const unlock = requestText('/api/match/unlock', body);
      const lock = requestText('/api/match/lock', { id, reason: 'inspection' });
      expect(await statuses(0, unlock, lock)).to.deep.equal([409, 200]);
      expect((await daemon.get('/api/match')).body.lock.id).to.equal(id);
    }
    await daemon.post('/api/match/unlock');
    await daemon.post('/api/resume');
  });

  const to = (mode: string) => requestText('/api/gimbal/mode/switch', { mode });
  it('the older switch to auto is refused, and the newer switch to manual is obeyed', async () => {
    expect(await statuses(0, to('auto'), to('manual'))).to.deep.equal([409, 200]);
    expect((await daemon.get('/api/status')).body.gimbal.mode).to.equal('manual');
  });

  it('the older switch to auto and the newer switch to debug both succeed', async () => {
    expect(await statuses(0, to('auto'), to('debug'))).to.deep.equal([200, 200]);
    await daemon.post('/api/gimbal/mode/switch', { mode: 'manual' });
  });

  it('the older resume is refused, and the newer stop keeps the robot stopped', async () => {
    await daemon.post('/api/stop');
    const resume = requestText('/api/resume', {});
    expect(await statuses(0, resume, requestText('/api/stop', {}))).to.deep.equal([409, 200]);
    expect((await daemon.get('/api/status')).body.stopped).to.equal(true);
    await daemon.post('/api/resume');
  });
});

describe('if a busy daemon reads a request of the referee desk 100 ms late,', () => {
  const daemon = simulatedDaemon();

  /** The answer, and the time since shortly before the request (seconds). */
  const late = async (path: string, body: object) => {
    const socket = connect(daemon.port, '127.0.0.1');
    const startMs = performance.now();
    const answer = await lateAnswer(socket, path, body);
    const tookS = (performance.now() - startMs) / 1000;
    return { tookS, ...JSON.parse(answer.split('\r\n\r\n')[1] ?? '') };
  };
  /** A request is dated earlier than it came by one poll at most (seconds). */
  const pollS = 0.02;

  it('the lease starts when the request arrived, not when it was read', async () => {
    const { beatAgeS, tookS } = await late('/api/match/lease', { holder: 'desk', ttlMs: 2000 });
    expect(beatAgeS).to.be.within(0.075, tookS + pollS);
  });

  it('the time limit of a phase starts when the request arrived, not when it was read', async () => {
    const match = { id: 'M', revision: 1, phase: 'pre', remainingS: 10 };
    const { endsAtT, t, tookS } = await late('/api/match', match);
    expect(endsAtT - t).to.be.within(10 - tookS - pollS, 9.925);
  });
});

describe('after a wait for a slow save on the same connection,', () => {
  let held: Promise<void> = Promise.resolve();
  const daemon = simulatedDaemon(
    {},
    {
      disk: real => ({
        ...real,
        openToAppend: async path => {
          const file = await real.openToAppend(path);
          return { ...file, sync: () => held.then(() => file.sync()) };
        },
      }),
    },
  );

  /** The status of the answer to `second`. Meanwhile `act` runs, and then the save waits for another `waitMs`. */
  const statusOf = async (
    second: string,
    { act = async () => {}, waitMs = 100 }: { act?: () => Promise<unknown>; waitMs?: number } = {},
  ) => {
    await daemon.post('/api/chassis/mode/switch', { mode: 'manual' });
    const { body: gains } = await daemon.get('/api/gimbal/pidconfig');
    let release = () => {};
    held = new Promise(resolve => {
      release = resolve;
    });
    const client = new RawClient(daemon.port, requestText('/api/gimbal/pidconfig', gains) + second);
    await once(client.socket, 'ready');
    await daemon.get('/api/status');
    await act();
    block(waitMs);
    release();
    while (client.text.split('HTTP/1.1').length < 3) await once(client.socket, 'data');
    client.socket.destroy();
    const [first, last] = client.text.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
    expect(first).to.equal('200');
    return Number(last);
  };
  const laserOn = requestText('/api/laser', { action: 'on' });
  const drive = (holdMs: number) =>
    requestText('/api/drive', { chassis: { speed: 0.5, turn: 0 }, holdMs, id: 'a' });

  it('a laser-on request lights the laser if no laser-off request has arrived during the wait', async () => {
    expect(await statusOf(laserOn)).to.equal(200);
    expect((await daemon.get('/api/status')).body.laser.light).to.equal('on');
  });

  it('a laser-on request leaves the laser dark if another caller has sent a laser-off request during the wait', async () => {
    const act = () => daemon.post('/api/laser', { action: 'off' });
    expect(await statusOf(laserOn, { act })).to.equal(409);
    expect((await daemon.get('/api/status')).body.laser.light).to.equal('dark');
  });

  it('a resume leaves the robot stopped if another caller has sent a stop during the wait', async () => {
    const act = () => daemon.post('/api/stop');
    expect(await statusOf(requestText('/api/resume', {}), { act })).to.equal(409);
    expect((await daemon.get('/api/status')).body.stopped).to.equal(true);
    await daemon.post('/api/resume');
  });

  it('a drive command is accepted only if its `holdMs` is longer than the wait', async () => {
    expect(await statusOf(drive(500), { waitMs: 0 })).to.equal(200);
    expect(await statusOf(drive(90))).to.equal(409);
  });
});
