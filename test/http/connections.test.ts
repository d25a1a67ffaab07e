import { expect } from 'chai';
import { eventually } from '../support/daemon.js';
import { RawClient, requestText } from '../support/raw-client.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const ROUNDS = 5;
const STREAM = 'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n';
describe('HTTP connections:', () => {
  const daemon = simulatedDaemon();
  const clients: RawClient[] = [];

  const open = (text: string): RawClient => {
    const client = new RawClient(daemon.port, text);
    clients.push(client);
    return client;
  };
  const answered = (client: RawClient, text: string) => eventually(async () => client.text.includes(text));
  const streams = async () => (await daemon.get('/api/status')).body.streams;
  /** Sends a request and closes the sending side at once. */
  const askAndClose = async (path: string, content: object, method = 'POST') => {
    const client = open('');
    client.socket.end(requestText(path, content, method).replace('\r\n', '\r\nConnection: close\r\n'));
    await client.closed;
    return client.text;
  };

  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await eventually(async () => (await streams()) === 0);
  });

  it('a connection that asks for an event stream twice gets only one stream, which ends with the connection', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const client = open(STREAM + STREAM);
      await answered(client, 'event: status');
      expect(await streams()).to.equal(1);
      client.socket.destroy();
      await eventually(async () => (await streams()) === 0);
    }
  });

  it('after a request for an event stream, a laser-on request on the same connection leaves the laser dark', async () => {
    const client = open(STREAM + requestText('/api/laser', { action: 'on' }));
    await answered(client, 'event: telemetry');
    expect(daemon.sim.truth().laser).to.deep.equal({ level: 0 });
    client.socket.destroy();
    await eventually(async () => (await streams()) === 0);
    expect(daemon.sim.truth().laser).to.deep.equal({ level: 0 });
  });

  it('if a client half-closes its connection right after a request, the request cannot switch the laser on or change the gains', async () => {
    const { body: before } = await daemon.get('/api/gimbal/pidconfig');
    const gains = { ...before, angle_yaw: { ...before.angle_yaw, kp: 0.5 } };
    for (let round = 0; round < ROUNDS; round += 1) {
      expect(await askAndClose('/api/laser', { action: 'on' })).to.contain('"caller-gone"');
      expect(await askAndClose('/api/gimbal/pidconfig', gains)).to.contain('"caller-gone"');
    }
    expect(daemon.sim.truth().laser).to.deep.equal({ level: 0 });
    expect((await daemon.get('/api/gimbal/pidconfig')).body).to.deep.equal(before);
  });

  it('if invalid HTTP follows a request that was answered before the end of its body, the connection closes without a second answer', async () => {
    const client = open('POST /api/stop HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
    await answered(client, '"stopped"');
    client.socket.write('no chunk\r\n');
    await client.closed;
    expect(client.text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200']);
    // After the whole body, what is no HTTP is answered.
    const other = open('POST /api/stop HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n');
    await answered(other, '"stopped"');
    other.socket.write('0\r\n\r\nno HTTP\r\n\r\n');
    await other.closed;
    expect(other.text.match(/HTTP\/1\.1 \d+/g)).to.deep.equal(['HTTP/1.1 200', 'HTTP/1.1 400']);
    await daemon.post('/api/resume');
  });

  it('if a client half-closes its connection right after a drive command, the command cannot move a unit, but can halt it', async () => {
    const drive = (speed: number) => ({ chassis: { speed, turn: 0 }, holdMs: 500, id: 'a' });
    for (let round = 0; round < ROUNDS; round += 1) {
      expect(await askAndClose('/api/drive', drive(0.5))).to.contain('"caller-gone"');
      expect((await daemon.post('/api/drive', drive(0.5))).status).to.equal(200);
      expect(await askAndClose('/api/drive', drive(0))).to.contain('{"chassis":{"speed":0,"turn":0}}');
    }
  });

  it('if a client half-closes its connection right after a request, the request can end a match, but cannot set the phase "none" or remove a lock', async () => {
    await daemon.post('/api/match/lock', { reason: 'inspection' });
    expect(await askAndClose('/api/match/unlock', {})).to.contain('"caller-gone"');
    const phase = (name: string, revision: number) =>
      askAndClose('/api/match', { id: 'final', revision, phase: name });
    expect(await phase('ended', 1)).to.match(/^HTTP\/1\.1 200 /);
    expect(await phase('none', 2)).to.contain('"caller-gone"');
    const { lock, phase: set } = (await daemon.get('/api/match')).body;
    expect([lock.reason, set]).to.deep.equal(['inspection', 'ended']);
    await daemon.post('/api/match', { id: 'final', revision: 2, phase: 'none' });
    await daemon.post('/api/match/unlock');
  });

  it('if an unlock and a lock arrive at the same moment on two connections, the unlock does not remove that lock', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const unlock = open(requestText('/api/match/unlock', {}));
      const lock = open(requestText('/api/match/lock', { reason: 'inspection' }));
      await answered(unlock, 'HTTP/1.1 ');
      await answered(lock, 'HTTP/1.1 200');
      expect((await daemon.get('/api/match')).body.lock?.reason).to.equal('inspection');
      expect(unlock.text).to.match(/^HTTP\/1\.1 (200 |409 .*"lock-changed")/s);
      await daemon.post('/api/match/unlock');
    }
  });

  it('if a client half-closes its connection right after a request to switch the laser off or to end a trial or a tuning, the request takes effect', async () => {
    await daemon.post('/api/resume');
    const { body: gains } = await daemon.get('/api/gimbal/pidconfig');
    await daemon.post('/api/gimbal/mode/switch', { mode: 'debug' });
    const acts = [
      ['/api/gimbal/pidconfig/trial', { gains, leaseS: 5 }],
      ['/api/gimbal/autotune', { loop: 'angle_yaw', leaseS: 5 }],
    ] as const;
    for (let round = 0; round < ROUNDS; round += 1) {
      expect((await daemon.post('/api/laser', { action: 'on' })).status).to.equal(200);
      expect(await askAndClose('/api/laser', { action: 'off' })).to.contain('{"state":"off"}');
      expect(daemon.sim.truth().laser).to.deep.equal({ level: 0 });
      for (const [path, body] of acts) {
        expect((await daemon.post(path, body)).status).to.be.oneOf([200, 202]);
        expect(await askAndClose(path, {}, 'DELETE')).to.contain('{"ended":true}');
      }
    }
  });
});
