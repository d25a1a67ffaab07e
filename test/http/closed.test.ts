import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { expect } from 'chai';
import { RIGHTS, ROLE_NAMES, ROLES, type Role } from '../../src/access/roles.js';
import { hashOf, newSecret, type Token } from '../../src/access/token.js';
import { encodeTokens, tokenFile, writeTokens } from '../../src/access/token-file.js';
import { succeeds } from '../../src/core/errors.js';
import { realDisk } from '../../src/storage/disk.js';
import { call, eventually } from '../support/daemon.js';
import { RawClient, requestText } from '../support/raw-client.js';
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

  const clients: RawClient[] = [];
  afterEach(() => {
    for (const { socket } of clients.splice(0)) socket.destroy();
  });
  const open = (text: string, localAddress?: string) => {
    const client = new RawClient(daemon.port, text, localAddress);
    clients.push(client);
    return client;
  };
  /** Sends a request on a new connection. Resolves at the first byte of the answer. */
  const asked = async (ask: string, role?: Role, localAddress?: string) => {
    const token = role === undefined ? '' : `Authorization: Bearer ${SECRETS[role]}\r\n`;
    const client = open(`${ask} HTTP/1.1\r\nHost: localhost\r\n${token}\r\n`, localAddress);
    await once(client.socket, 'data');
    return client;
  };
  const statusOf = ({ text }: RawClient) => Number(text.slice(9, 12));

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
    const kept = await asked('GET /healthz', 'referee', '127.1.0.1');
    for (let count = 0; count < 300; count += 1)
      await asked('GET /healthz', undefined, `127.2.${count % 2}.${1 + (count >> 1)}`);
    kept.text = '';
    kept.socket.write('GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await Promise.race([once(kept.socket, 'data'), kept.closed]);
    expect(kept.text).to.include('"ok"');
  });

  it('writes no token to any log', async () => {
    await as(undefined, 'POST', '/api/session', { token: SECRETS.operator });
    const log = await as(SECRETS.spectator, 'GET', '/api/log');
    expect(log.body.events.at(-1)).to.include({ what: 'login', who: 'operator', outcome: 'done' });
    for (const secret of Object.values(SECRETS))
      expect(log.text + JSON.stringify(daemon.logged)).to.not.include(secret);
  });

  it('ends the event stream of a caller when the token of that caller is removed', async () => {
    const stream = await asked('GET /api/events', 'spectator');
    expect(statusOf(stream)).to.equal(200);
    await write(TOKENS.filter(({ role }) => role !== 'spectator'));
    await stream.closed;
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
    const stream = async (role: Role) => statusOf(await asked('GET /api/events', role));
    for (let count = 0; count < 24; count += 1) expect(await stream('spectator')).to.equal(200);
    expect(await stream('spectator')).to.equal(503);
    for (let count = 24; count < 28; count += 1) expect(await stream('operator')).to.equal(200);
    expect([await stream('operator'), await stream('referee')]).to.deep.equal([503, 200]);
  });

  it('after a hang refuses a waiting laser-on request whose token was removed, but obeys a waiting stop without a token', async () => {
    const [light, stop] = [open(''), open('')];
    for (const { socket } of [light, stop]) await once(socket, 'connect');
    const authorization = `Authorization: Bearer ${SECRETS.operator}\r\n\r\n`;
    const withToken = (text: string) => text.replace('\r\n\r\n', `\r\n${authorization}`);
    const left = TOKENS.filter(({ role }) => role !== 'operator');
    writeFileSync(tokenFile(daemon.folder), encodeTokens(left));
    light.socket.write(withToken(requestText('/api/laser', { action: 'on' })));
    stop.socket.write(requestText('/api/stop', {}));
    const untilMs = performance.now() + 1200;
    while (performance.now() < untilMs);
    await Promise.all([once(light.socket, 'data'), once(stop.socket, 'data')]);
    expect([statusOf(light), statusOf(stop)]).to.deep.equal([401, 200]);
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
