import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { expect } from 'chai';
import { call } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

/** fetch sets Host and Origin itself, so these go out by hand. */
function statusWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL('/api/status', url), { headers }, response => {
      response.resume();
      resolve(response.statusCode);
    });
    sent.on('error', reject).end();
  });
}

describe('routing', () => {
  const daemon = simulatedDaemon();

  const table: readonly [string, string, number, string | null][] = [
    ['GET', '/api/nothing', 404, null],
    ['POST', '/api/laser/', 404, null],
    ['POST', '/API/laser', 404, null],
    ['GET', '/api/rover/pidconfig', 404, null],
    ['GET', '/api/laser', 405, 'POST, OPTIONS'],
    ['DELETE', '/api/gimbal/pidconfig', 405, 'HEAD, GET, POST, OPTIONS'],
    ['HEAD', '/api/gimbal/pidconfig', 200, null],
    ['HEAD', '/api/status', 200, null],
    ['HEAD', '/api/laser', 405, 'POST, OPTIONS'],
    ['OPTIONS', '/api/laser', 204, 'POST, OPTIONS'],
    ['OPTIONS', '/api/nothing', 404, null],
    ['GET', '/healthz', 200, null],
  ];
  for (const [method, path, status, allow] of table) {
    it(`${method} ${path} is ${status}`, async () => {
      const answer = await call(daemon.url, method, path);
      expect([answer.status, answer.headers.get('allow')]).to.deep.equal([status, allow]);
      if (status >= 400 && method !== 'HEAD') expect(answer.body.status).to.equal(status);
    });
  }

  const hosts: readonly [string, Record<string, string>, number][] = [
    ['an address', { host: '10.1.2.3:8080' }, 200],
    ['an IPv6 address', { host: '[fd00::1]:8080' }, 200],
    ['localhost', { host: 'LOCALHOST.' }, 200],
    ['a foreign name', { host: 'evil.example' }, 421],
    ['a page of its own', { host: 'localhost:1', origin: 'http://localhost:1' }, 200],
    ["another site's page", { host: 'localhost:1', origin: 'http://evil.example' }, 403],
    ['a sandboxed page', { host: 'localhost:1', origin: 'null' }, 403],
    ['a cross-site fetch', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }, 403],
    ['a same-site fetch', { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }, 403],
    ['a link from elsewhere', { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }, 200],
    ['its own fetch', { 'sec-fetch-site': 'same-origin', origin: 'https://behind.a.proxy' }, 200],
  ];
  for (const [name, headers, status] of hosts) {
    it(`answers ${status} to ${name}`, async () => {
      expect(await statusWith(daemon.url, headers)).to.equal(status);
    });
  }

  for (const [name, head, answer] of [
    [
      'two hosts',
      '/healthz HTTP/1.1\r\nHost: localhost\r\nhost: localhost',
      /^HTTP\/1\.1 400 .*"code":"bad-http"/s,
    ],
    ['a foreign URL', 'http://evil.example/healthz HTTP/1.1\r\nHost: localhost', /^HTTP\/1\.1 421 /],
    ['its own URL', 'http://localhost/healthz HTTP/1.1\r\nHost: evil.example', /^HTTP\/1\.1 200 /],
  ] as const) {
    it(`answers a request that names ${name}`, async () => {
      const [socket, text] = [connect(Number(new URL(daemon.url).port)), [] as string[]];
      socket.on('data', data => text.push(String(data)));
      socket.end(`GET ${head}\r\n\r\n`);
      await once(socket, 'close');
      expect(text.join('')).to.match(answer);
    });
  }
});
