import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { RIGHTS, ROLE_NAMES, ROLES, type Role } from '../../src/access/roles.js';
import { hashOf, newSecret, type Token } from '../../src/access/token.js';
import { encodeTokens, tokenFile, writeTokens } from '../../src/access/token-file.js';
import { succeeds } from '../../src/core/errors.js';
import { realDisk } from '../../src/storage/disk.js';
import { call, eventually } from '../support/daemon.js';
import { requestText } from '../support/raw-client.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

const SECRETS: Readonly<Record<Role, string>> = {
  referee: newSecret(),
  operator: newSecret(),
  spectator: newSecret(),
};
const TOKENS: readonly Token[] = ROLE_NAMES.map(role => ({ name: role, role, hash: hashOf(SECRETS[role]) }));
const bearer = (secret: string | undefined) => (secret ? { authorization: `Bearer ${secret}` } : undefined);

describe('a robot with tokens', () => {
  const daemon = simulatedDaemon();
  /** Every documented call with the right that it needs. test/contract holds the rights. */
  const operations: { readonly method: string; readonly path: string; readonly right: string }[] = [];
  const as = (secret: string | undefined, method: string, path: string, body?: unknown) =>
    call(daemon.url, method, path, body, bearer(secret));
  const write = (tokens: readonly Token[]) => writeTokens(realDisk, daemon.folder, tokens);
  const isRefused = (secret: string) =>
    eventually(async () => (await as(secret, 'GET', '/api/status')).status === 401);
  const isServed = (secret: string) =>
    eventually(async () => (await as(secret, 'GET', '/api/status')).status === 200);

  before(async () => {
    const { paths } = (await daemon.get('/api/openapi.json')).body;
    for (const [path, calls] of Object.entries<Record<string, Record<string, string>>>(paths))
      for (const [method, { 'x-right': right = '' }] of Object.entries(calls))
        operations.push({ method: path === '/api/events' ? 'HEAD' : method.toUpperCase(), path, right });
    await write(TOKENS);
    await isRefused('');
  });

  const callers: readonly (readonly [name: string, secret: string | undefined, role?: Role])[] = [
    ['a caller without a token', undefined],
    ['a caller with an unknown token', newSecret()],
    ...ROLE_NAMES.map(role => [`the ${role}`, SECRETS[role], role] as const),
  ];
  for (const [name, secret, role] of callers)
    it(`allows ${name} exactly the calls that need no right${role ? ` or one of the rights of the ${role}` : ''}`, async () => {
      for (const { method, path, right } of operations) {
        // The calls have no body, so an act may answer 400 once the caller has the right.
        const { status, headers, body } = await as(secret, method, path);
        const rights: readonly string[] = role === undefined ? [] : ROLES[role];
        const mayCall = !RIGHTS.some(one => one === right) || rights.includes(right);
        if (mayCall) expect(status, path).to.not.be.oneOf([401, 403]);
        else if (role !== undefined)
          expect([status, body.detail.includes(right)], path).to.deep.equal([403, true]);
        else expect([status, headers.get('www-authenticate')], path).to.deep.equal([401, 'Bearer']);
      }
    });

  it('keeps the connection of a caller with a token while callers without a token open 300 connections', async () => {
    const { hostname: host, port, host: name } = new URL(daemon.url);
    const sockets: Socket[] = [];
    const asked = async (localAddress: string, header = '') => {
      const socket = connect({ host, port: Number(port), localAddress });
      sockets.push(socket.on('error', () => undefined));
      socket.write(`GET /healthz HTTP/1.1\r\nHost: ${name}\r\n${header}\r\n`);
      await once(socket, 'data');
      return socket;
    };
    const kept = await asked('127.1.0.1', `Authorization: Bearer ${SECRETS.referee}\r\n`);
    const ended = once(kept, 'close').then(() => 'closed');
    for (let count = 0; count < 300; count += 1) await asked(`127.2.${count % 2}.${1 + (count >> 1)}`);
    kept.write(`GET /healthz HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
    expect(String(await Promise.race([once(kept, 'data'), ended]))).to.include('"ok"');
    for (const socket of sockets) socket.destroy();
  });

  it('writes no token to any log', async () => {
    await as(undefined, 'POST', '/api/session', { token: SECRETS.operator });
    const log = await as(SECRETS.spectator, 'GET', '/api/log');
    expect(log.body.events.at(-1)).to.include({ what: 'login', who: 'operator', outcome: 'done' });
    for (const secret of Object.values(SECRETS))
      expect(log.text + JSON.stringify(daemon.logged)).to.not.include(secret);
  });

  it('ends the event stream of a caller when the token of that caller is removed', async () => {
    const stream = await fetch(new URL('/api/events', daemon.url), {
      headers: bearer(SECRETS.spectator) ?? {},
    });
    expect(stream.status).to.equal(200);
    const reader = stream.body?.getReader();
    await reader?.read();
    await write(TOKENS.filter(({ role }) => role !== 'spectator'));
    const readAll = async () => {
      while (reader !== undefined && !(await reader.read()).done);
    };
    // If the daemon closes the connection, reading fails. That is an end of the stream too.
    await readAll().catch(() => undefined);
    expect((await as(SECRETS.spectator, 'GET', '/api/status')).body.code).to.equal('token-unknown');
    await write(TOKENS);
    await isServed(SECRETS.spectator);
  });

  it('ends the motion of a driver whose token loses the right to drive', async () => {
    await as(SECRETS.operator, 'POST', '/api/resume');
    await as(SECRETS.operator, 'POST', '/api/chassis/mode/switch', { mode: 'manual' });
    const command = { chassis: { speed: 0.5, turn: 0 }, holdMs: 500, id: 'a' };
    expect((await as(SECRETS.operator, 'POST', '/api/drive', command)).status).to.equal(200);
    await write(TOKENS.map(token => (token.role === 'operator' ? { ...token, role: 'spectator' } : token)));
    await eventually(async () => {
      const { events } = (await as(SECRETS.referee, 'GET', '/api/log')).body;
      return events.some(
        (event: { what: string; detail?: { why?: string } }) =>
          event.what === 'drive-ended' && event.detail?.why === 'token removed',
      );
    });
    await write(TOKENS);
    await eventually(async () => (await as(SECRETS.operator, 'POST', '/api/resume')).status === 200);
  });

  it('refuses a request if its token is removed before its body arrives', async () => {
    const body = JSON.stringify({ mode: 'auto' });
    const headers = {
      ...bearer(SECRETS.operator),
      'content-type': 'application/json',
      'content-length': body.length,
      expect: '100-continue',
    };
    const asked = request(new URL('/api/gimbal/mode/switch', daemon.url), { method: 'POST', headers });
    asked.flushHeaders();
    await once(asked, 'continue');
    await write(TOKENS.filter(({ role }) => role !== 'operator'));
    await isRefused(SECRETS.operator);
    asked.end(body);
    const [answer] = await once(asked, 'response');
    expect(answer.statusCode).to.equal(401);
    answer.resume();
    await write(TOKENS);
    await isServed(SECRETS.operator);
  });

  it('still requires tokens after its list of tokens was deleted, and writes the list again', async () => {
    await rm(tokenFile(daemon.folder));
    await eventually(() => succeeds(readFile(tokenFile(daemon.folder))));
    expect((await as(undefined, 'POST', '/api/resume')).body.code).to.equal('token-required');
    expect((await as(SECRETS.referee, 'GET', '/api/status')).body.access.state).to.equal('closed');
  });

  it('keeps event streams free for the referee: refuses spectators once 24 streams are open, and operators once 28 are open', async () => {
    const streams: IncomingMessage[] = [];
    const stream = async (role: Role) => {
      const headers = { ...bearer(SECRETS[role]) };
      const [response]: IncomingMessage[] = await once(
        get(new URL('/api/events', daemon.url), { headers, agent: false }),
        'response',
      );
      streams.push(response!.on('error', () => undefined));
      return response!.statusCode;
    };
    for (let count = 0; count < 24; count += 1) expect(await stream('spectator')).to.equal(200);
    expect(await stream('spectator')).to.equal(503);
    for (let count = 24; count < 28; count += 1) expect(await stream('operator')).to.equal(200);
    expect([await stream('operator'), await stream('referee')]).to.deep.equal([503, 200]);
    for (const response of streams) response.destroy();
  });

  it('after a hang refuses a waiting laser-on request whose token was removed, but obeys a waiting stop without a token', async () => {
    const socket = connect(daemon.port, '127.0.0.1');
    await once(socket, 'connect');
    const authorization = `Authorization: Bearer ${SECRETS.operator}\r\n\r\n`;
    const withToken = (text: string) => text.replace('\r\n\r\n', `\r\n${authorization}`);
    const stop = connect(daemon.port, '127.0.0.1');
    await once(stop, 'connect');
    const left = TOKENS.filter(({ role }) => role !== 'operator');
    writeFileSync(tokenFile(daemon.folder), Buffer.concat([encodeTokens(left)].flat()));
    socket.write(withToken(requestText('/api/laser', { action: 'on' })));
    stop.write(requestText('/api/stop', {}));
    const untilMs = performance.now() + 1200;
    while (performance.now() < untilMs);
    const [[answer], [stopped]] = await Promise.all([once(socket, 'data'), once(stop, 'data')]);
    for (const one of [socket, stop]) one.destroy();
    expect([String(answer).slice(9, 12), String(stopped).slice(9, 12)]).to.deep.equal(['401', '200']);
    await write(TOKENS);
    await isServed(SECRETS.operator);
    await as(SECRETS.operator, 'POST', '/api/resume');
  });

  it('refuses all acts while its list of tokens is damaged, except those that make the robot safe', async () => {
    const file = await readFile(tokenFile(daemon.folder));
    await writeFile(tokenFile(daemon.folder), file.subarray(0, file.length / 2));
    await eventually(async () => (await daemon.get('/api/session')).body.access === 'unavailable');
    for (const { method, path, right } of operations)
      for (const secret of [undefined, SECRETS.operator]) {
        const { body } = await as(secret, method, path);
        const isAct = ['drive', 'tune', 'rule'].includes(right);
        expect(body?.code === 'access-unavailable', path).to.equal(isAct);
      }
  });
});
