import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { call } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const STREAM = 'GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n';
const HEALTH = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
const laser = (action: string) => {
  const body = JSON.stringify({ action });
  return (
    'POST /api/laser HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  );
};

/** The answers that came on one connection so far. */
interface Client {
  readonly socket: Socket;
  text: string;
}

describe('connections', function () {
  this.timeout(20_000);
  const daemon = simulatedDaemon();
  const clients: Client[] = [];

  /** Opens a connection, from an address of its own if one is given: the whole of 127.0.0.0/8 is this machine. */
  const open = (text: string, localAddress = '127.0.0.1'): Client => {
    const { hostname, port } = new URL(daemon.url);
    const socket = connect({ port: Number(port), host: hostname, localAddress });
    const client = { socket, text: '' };
    clients.push(client);
    socket.setEncoding('utf8');
    socket.on('data', data => {
      client.text += data;
    });
    socket.on('error', () => undefined);
    socket.write(text);
    return client;
  };
  const answered = (client: Client, text: string) => eventually(async () => client.text.includes(text));
  const streams = async () => (await daemon.get('/api/status')).body.streams;

  afterEach(async () => {
    for (const { socket } of clients.splice(0)) socket.destroy();
    await eventually(async () => (await streams()) === 0);
  });

  it('free their streams when they end, and those asked for too early never begin', async () => {
    for (let round = 0; round < 5; round += 1) {
      const client = open(STREAM + STREAM);
      await answered(client, 'event: status');
      expect(await streams()).to.equal(1);
      client.socket.destroy();
      await eventually(async () => (await streams()) === 0);
    }
  });

  it('act in order: what is sent behind a stream is not done', async () => {
    const client = open(STREAM + laser('on'));
    await answered(client, 'event: telemetry');
    expect(daemon.sim.truth().laser).to.deep.equal({ level: 0 });
    client.socket.destroy();
    await eventually(async () => (await streams()) === 0);
    expect(daemon.sim.truth().laser).to.deep.equal({ level: 0 });
  });

  it('get the answers to requests sent together one after the other', async () => {
    const client = open(HEALTH + laser('off'));
    await answered(client, '{"state":"off"}');
    expect(client.text).to.match(/"ok".*HTTP\/1\.1 200 OK.*"state":"off"/s);
    client.socket.write(HEALTH);
    await eventually(async () => client.text.split('"ok"').length === 3);
  });

  it('that are of use stay when silent ones come from everywhere', async () => {
    const stream = open(STREAM, '127.0.1.1');
    const kept = open(HEALTH, '127.0.1.2');
    await answered(stream, 'event: status');
    await answered(kept, '"ok"');
    for (let index = 0; index < 600; index += 1)
      open('', `127.1.${Math.floor(index / 250)}.${(index % 250) + 1}`);
    const startMs = performance.now();
    expect((await call(daemon.url, 'POST', '/api/laser', { action: 'off' })).status).to.equal(200);
    expect(performance.now() - startMs).to.be.lessThan(2500);
    const { length } = stream.text;
    kept.socket.write(HEALTH);
    await eventually(async () => kept.text.split('"ok"').length === 3);
    await eventually(async () => stream.text.length > length);
    expect([stream.socket.destroyed, kept.socket.destroyed]).to.deep.equal([false, false]);
  });

  it('that name two hosts are refused', async () => {
    const client = open('GET /healthz HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n');
    await answered(client, '"code":"bad-http"');
    expect(client.text).to.match(/^HTTP\/1\.1 400 /);
  });
});
