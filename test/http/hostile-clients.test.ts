import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import type { Happening } from '../../src/core/happening.js';
import { call } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const LASER_OFF = { action: 'off' };
/** A time before the first of them is timed out. Whoever is answered within it has waited for none of them. */
const WHILE_THEY_WAIT_MS = 2500;

describe('hostile clients', function () {
  this.timeout(20_000);
  const daemon = simulatedDaemon();
  const sockets: Socket[] = [];

  /** A connection that sends this much and then nothing; its answer when the server ends it. */
  const send = (text: string) => {
    const { hostname, port } = new URL(daemon.url);
    const socket = connect(Number(port), hostname);
    sockets.push(socket);
    socket.setEncoding('utf8');
    let answer = '';
    socket.on('data', data => {
      answer += data;
    });
    socket.on('error', () => undefined);
    socket.write(text);
    return new Promise<string>(resolve => socket.on('close', () => resolve(answer)));
  };

  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  const laserOffInTime = async () => {
    const startMs = performance.now();
    const answer = await call(daemon.url, 'POST', '/api/laser', LASER_OFF, { connection: 'close' });
    expect(answer.status).to.equal(200);
    return performance.now() - startMs;
  };

  it('do not keep the laser lit by a thousand slow headers', async () => {
    const slow = Array.from({ length: 1000 }, () => send('GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: '));
    expect(await laserOffInTime()).to.be.lessThan(WHILE_THEY_WAIT_MS);
    await Promise.all(slow);
    expect(await laserOffInTime()).to.be.lessThan(WHILE_THEY_WAIT_MS);
  });

  it('do not keep it lit by bodies that never end', async () => {
    const head =
      'POST /api/laser HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{';
    const slow = Array.from({ length: 200 }, () => send(head));
    expect(await laserOffInTime()).to.be.lessThan(WHILE_THEY_WAIT_MS);
    await Promise.all(slow);
  });

  it('do not keep it lit by connections that say nothing', async () => {
    const silent = Array.from({ length: 300 }, () => send(''));
    expect(await laserOffInTime()).to.be.lessThan(WHILE_THEY_WAIT_MS);
    for (const socket of sockets) socket.destroy();
    await Promise.all(silent);
  });

  it('do not keep it lit by asking much and reading nothing', async () => {
    const { hostname, port } = new URL(daemon.url);
    const ask = 'GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n'.repeat(200);
    for (let index = 0; index < 100; index += 1) {
      const socket = connect(Number(port), hostname).pause();
      sockets.push(socket.on('error', () => undefined));
      socket.write(ask);
    }
    expect(await laserOffInTime()).to.be.lessThan(WHILE_THEY_WAIT_MS);
  });

  it('do not keep it lit by a flood of mode switches', async () => {
    const flood = Array.from({ length: 200 }, () =>
      call(daemon.url, 'POST', '/api/gimbal/mode/switch', { mode: 'auto' }).catch(() => undefined),
    );
    expect(await laserOffInTime()).to.be.lessThan(WHILE_THEY_WAIT_MS);
    await Promise.all(flood);
  });

  const refused: readonly [string, string, RegExp][] = [
    [
      'slow headers',
      'GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ',
      /^HTTP\/1\.1 408 .*"code":"request-timeout"/s,
    ],
    ['no HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 .*"code":"bad-http"/s],
    [
      'huge headers',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(9000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 .*"code":"headers-too-large"/s,
    ],
  ];
  for (const [name, text, answer] of refused) {
    it(`get an answer to ${name}`, async () => {
      expect(await send(text)).to.match(answer);
    });
  }

  it('are not obeyed when they go on after they were refused for their slowness', async () => {
    const body = JSON.stringify({ action: 'on' });
    const answer = send(
      `POST /api/laser HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
    );
    const socket = sockets.at(-1)!;
    socket.once('data', () => socket.write(body));
    expect(await answer).to.match(/^HTTP\/1\.1 408 /);
    expect((await daemon.get('/api/status')).body.laser.state).to.equal('off');
    const { events } = (await call(daemon.url, 'GET', '/api/log')).body;
    const isLit = ({ what, outcome, detail }: Happening) =>
      what === 'laser' && outcome === 'done' && detail?.action === 'on';
    expect(events.filter(isLit)).to.deep.equal([]);
  });

  it('get the answer to a request before they are refused for what came behind it', async () => {
    const body = JSON.stringify({ action: 'off' });
    const asked = `POST /api/laser HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    expect(await send(`${asked}GARBAGE\r\n\r\n`)).to.match(
      /^HTTP\/1\.1 200 .*\{"state":"off"\}HTTP\/1\.1 400 /s,
    );
    expect(await send(`${asked}GET / HTTP/1.1\r\nX: ${'a'.repeat(9000)}`)).to.match(
      /^HTTP\/1\.1 200 .*\{"state":"off"\}HTTP\/1\.1 431 /s,
    );
  });

  /** Sends a request, closes its side at once, and resolves with the answer when the connection is over. */
  const sendAndClose = (path: string, content: object, method = 'POST') => {
    const body = JSON.stringify(content);
    const answer = send('');
    sockets
      .at(-1)
      ?.end(
        `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n` +
          `Content-Length: ${body.length}\r\n\r\n${body}`,
      );
    return answer;
  };

  it('light nothing when they hang up at once', async () => {
    for (let round = 0; round < 20; round += 1)
      expect(await sendAndClose('/api/laser', { action: 'on' })).to.contain('"caller-gone"');
    expect(daemon.sim.truth().laser).to.deep.equal({ level: 0 });
  });

  it('change no gains when they hang up at once', async () => {
    const { body: before } = await call(daemon.url, 'GET', '/api/gimbal/pidconfig');
    const kp = (gains: Record<string, object>) =>
      Object.fromEntries(Object.entries(gains).map(([loop, set]) => [loop, { ...set, kp: 0.5 }]));
    for (let round = 0; round < 20; round += 1) {
      expect(await sendAndClose('/api/gimbal/pidconfig', kp(before))).to.contain('"caller-gone"');
    }
    expect((await call(daemon.url, 'GET', '/api/gimbal/pidconfig')).body).to.deep.equal(before);
  });

  it('end a trial and a tuning even when they hang up at once', async () => {
    for (const path of ['/api/gimbal/pidconfig/trial', '/api/gimbal/autotune']) {
      for (let round = 0; round < 20; round += 1) {
        expect(await sendAndClose(path, {}, 'DELETE')).to.match(/^HTTP\/1\.1 200 /);
      }
    }
  });

  it('darken the laser even when they hang up at once', async () => {
    for (let round = 0; round < 20; round += 1) {
      await call(daemon.url, 'POST', '/api/laser', { action: 'on' });
      expect(await sendAndClose('/api/laser', { action: 'off' })).to.contain('{"state":"off"}');
      expect(daemon.sim.truth().laser).to.deep.equal({ level: 0 });
    }
  });
});
