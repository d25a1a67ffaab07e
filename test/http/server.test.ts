import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { expect } from 'chai';
import { pino } from 'pino';
import { containment } from '../../src/http/contain.js';
import { createHttpServer, hasWaited, keepInFlood, type Patience } from '../../src/http/server.js';
import { eventually, portOf } from '../support/daemon.js';
import { RawClient } from '../support/raw-client.js';

const request = (path: string, body = '') =>
  `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

describe('the HTTP server', () => {
  let server: Server;
  const clients: RawClient[] = [];
  /** The paths of the requests that arrived completely, in this order. */
  const acted: string[] = [];
  const hanging: ServerResponse[] = [];

  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => logged.push(line) });

  const listen = (patience?: Patience) => {
    const listener: RequestListener = async (request, response) => {
      try {
        for await (const _ of request);
      } catch {
        return;
      }
      const { url = '' } = request;
      acted.push(url);
      if (url === '/trusted') keepInFlood(request.socket);
      if (url === '/broken') throw new Error('a defect');
      if (url === '/hang') hanging.push(response);
      else response.end(url === '/big' ? 'x'.repeat(20_000_000) : `did ${url}`);
    };
    const contain = containment(log);
    server = createHttpServer(
      contain(listener, (_, response) => response.destroy()),
      contain,
      patience,
    );
    return once(server.listen(0, '127.0.0.1'), 'listening');
  };
  beforeEach(() => listen());
  afterEach(() => {
    acted.length = 0;
    for (const { socket } of clients.splice(0)) socket.destroy();
    for (const response of hanging.splice(0)) response.destroy();
    server.close();
  });

  const open = (text: string, localAddress?: string): RawClient => {
    const client = new RawClient(portOf(server), text, localAddress);
    clients.push(client);
    return client;
  };
  const times = (count: number, act: (index: number) => RawClient) =>
    Array.from({ length: count }, (_, index) => act(index));
  const until = (holds: () => boolean) => eventually(async () => holds());
  const connected = async (count: number) => {
    const now = () => new Promise<number>(resolve => server.getConnections((_, all) => resolve(all)));
    await eventually(async () => (await now()) === count);
  };
  const isOpen = ({ socket }: RawClient) => !socket.destroyed;
  const ask = async (address: string) => {
    const client = open(request('/quick'), address);
    await until(() => client.text.includes('did /quick') || !isOpen(client));
    return client.text.includes('did /quick');
  };

  describe('with 256 requests in progress', () => {
    const fill = async (of: (index: number) => string) => {
      const busy = times(256, index => open(request('/hang'), of(index)));
      await until(() => hanging.length === 256);
      return busy;
    };

    it('answers a new client, and closes the oldest connection of the address with the most connections', async () => {
      // The busiest address, 127.0.0.3, has 52 connections. The oldest connection of all is of 127.0.0.2, which has 51.
      const busy = await fill(index => `127.0.0.${2 + (index === 5 ? 1 : index % 5)}`);
      expect(await ask('127.0.9.1')).to.equal(true);
      await busy[1]!.closed;
      expect(busy.filter(isOpen)).to.have.length(255);
    });

    it('answers 10 new clients, and to make room closes only connections of callers without rights', async () => {
      const kept = open(request('/trusted'), '127.1.0.1');
      await until(() => kept.text.includes('did'));
      kept.socket.write(request('/hang'));
      times(255, index => open(request('/hang'), `127.2.0.${index + 1}`));
      await until(() => hanging.length === 256);
      for (let count = 0; count < 10; count += 1) expect(await ask(`127.3.0.${count + 1}`)).to.equal(true);
      expect(isOpen(kept)).to.equal(true);
    });
  });

  it('with 256 open connections serves 20 new clients, and keeps all 8 silent connections of an address with few connections', async () => {
    const silent = times(8, () => open('', '127.0.1.1'));
    await connected(8);
    const busy = times(248, index => open(request('/trusted'), `127.0.0.${2 + (index % 4)}`));
    await until(() => busy.every(({ text }) => text !== ''));
    for (const { socket } of busy) socket.write(request('/hang'));
    await until(() => hanging.length === 248);
    for (let count = 0; count < 20; count += 1) expect(await ask(`127.0.2.${count + 1}`)).to.equal(true);
    expect(silent.filter(isOpen)).to.have.length(8);
  });

  it('answers the first request of a connection even if 40 newer connections were opened before that request', async () => {
    const idle = times(256, index => open(request('/quick'), `127.0.${index % 64}.2`));
    await until(() => idle.every(({ text }) => text !== ''));
    const referee = open('', '127.9.0.1');
    await until(() => referee.socket.readyState === 'open');
    for (let count = 0; count < 40; count += 1) expect(await ask(`127.0.${count}.2`)).to.equal(true);
    referee.socket.write(request('/lock'));
    await until(() => referee.text !== '' || !isOpen(referee));
    expect(referee.text).to.include('did /lock');
  });

  it('makes room by closing connections that have sent no request, and keeps all 200 connections that have sent one', async () => {
    const busy = times(100, index => open(request('/hang'), `127.0.1.${index + 1}`));
    const idle = times(100, index => open(request('/quick'), `127.0.2.${index + 1}`));
    await until(() => hanging.length === 100 && idle.every(({ text }) => text !== ''));
    times(600, index => open('', `127.1.${index % 3}.${1 + (index % 200)}`));
    await connected(256);
    expect(await ask('127.0.9.1')).to.equal(true);
    expect([...busy, ...idle].filter(isOpen)).to.have.length(200);
  });

  it('keeps at most 64 connections of one address: it closes the oldest one if a 65th is opened', async () => {
    const [oldest, ...others] = times(64, () => open(request('/hang')));
    await until(() => hanging.length === 64);
    expect(await ask('127.0.0.1')).to.equal(true);
    await oldest?.closed;
    expect(others.filter(isOpen)).to.have.length(63);
  });

  it('answers a slow request with 408, and ignores the rest of the request', async () => {
    server.close();
    await listen({ headersMs: 60, requestMs: 60, checkMs: 20 });
    const headers = open('GET /quick HTTP/1.1\r\nHost: localhost\r\nX-Slow: ');
    const body = open('POST /late HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{');
    body.socket.once('data', () => body.socket.write('}'));
    await Promise.all([headers.closed, body.closed]);
    for (const { text } of [headers, body])
      expect(text).to.match(/^HTTP\/1\.1 408 .*"code":"request-timeout"/s);
    expect(acted).to.deep.equal([]);
  });

  for (const [name, text, answer] of [
    ['400 to bytes that are not HTTP', 'hello\r\n\r\n', /^HTTP\/1\.1 400 .*"code":"bad-http"/s],
    [
      '431 to headers of 9,000 bytes',
      `GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(9000)}\r\n\r\n`,
      /^HTTP\/1\.1 431 .*"code":"headers-too-large"/s,
    ],
    [
      '200 to a request, and 400 to garbage after that request',
      `${request('/a')}GARBAGE\r\n\r\n`,
      /^HTTP\/1\.1 200 .*did \/aHTTP\/1\.1 400 /s,
    ],
    [
      '200 to a request, and 431 to the next one on the same connection if its headers have 9,000 bytes',
      `${request('/a')}GET / HTTP/1.1\r\nX: ${'a'.repeat(9000)}`,
      /^HTTP\/1\.1 200 .*did \/aHTTP\/1\.1 431 /s,
    ],
  ] as const) {
    it(`answers ${name}`, async () => {
      const client = open(text);
      await client.closed;
      expect(client.text).to.match(answer);
    });
  }

  it('answers two requests in their order if they are sent together, but closes the connection if three are sent together', async () => {
    const two = open(request('/a') + request('/b'));
    await until(() => two.text.includes('did /b'));
    expect(two.text).to.match(/did \/a.*did \/b/s);
    const three = open(request('/hang') + request('/c') + request('/d'));
    await three.closed;
    expect(acted).to.deep.equal(['/a', '/b', '/hang']);
  });

  it('marks a request as possibly late if its client sent it while an earlier answer was still unread', async () => {
    const arrived: IncomingMessage[] = [];
    server.on('request', one => arrived.push(one));
    const client = open('');
    client.socket.pause();
    for (const [index, path] of ['/big', '/a'].entries()) {
      client.socket.write(request(path));
      await until(() => arrived.length > index);
    }
    // Node reads this one only after the client has read the large answer.
    await new Promise<void>(resolve => client.socket.write(request('/b'), () => resolve()));
    client.socket.resume();
    for (const path of ['/b', '/c', '/d']) {
      if (path !== '/b') client.socket.write(request(path));
      await until(() => client.text.includes(`did ${path}`));
    }
    expect(arrived.map(one => [one.url, hasWaited(one)])).to.deep.equal([
      ['/big', false],
      ['/a', true],
      ['/b', true],
      ['/c', false],
      ['/d', false],
    ]);
  });

  it('logs an exception in the handling of a request, closes that connection, and still answers other clients', async () => {
    const client = open(request('/broken'));
    await client.closed;
    expect(logged.join('')).to.include('a defect');
    expect(await ask('127.0.0.1')).to.equal(true);
  });
});
