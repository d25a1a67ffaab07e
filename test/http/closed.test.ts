import { once } from 'node:events';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { get, type IncomingMessage, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { ROLE_NAMES, ROLES, type Role } from '../../src/access/roles.js';
import { hashOf, newSecret, type Token } from '../../src/access/token.js';
import { tokenFile, writeTokens } from '../../src/access/token-file.js';
import { RIGHTS } from '../../src/core/rights.js';
import { realDisk } from '../../src/storage/disk.js';
import { type Answer, call } from '../support/daemon.js';
import { eventually } from '../support/eventually.js';
import { type SimulatedDaemon, simulatedDaemon } from '../support/simulated-daemon.js';

const SECRETS: Readonly<Record<Role, string>> = {
  referee: newSecret(),
  operator: newSecret(),
  spectator: newSecret(),
};
const TOKENS: readonly Token[] = ROLE_NAMES.map(role => ({ name: role, role, hash: hashOf(SECRETS[role]) }));

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });

async function close(daemon: SimulatedDaemon, tokens = TOKENS): Promise<void> {
  await writeTokens(realDisk, daemon.folder, tokens);
  await eventually(async () => (await daemon.get('/api/session')).body.access === 'closed');
}

async function open(daemon: SimulatedDaemon): Promise<void> {
  await rm(tokenFile(daemon.folder), { force: true });
  await eventually(async () => (await daemon.get('/api/session')).body.access === 'open');
}

interface Operation {
  readonly method: string;
  readonly path: string;
  /** `read`, `drive`, `tune`, `rule`, `stop`, `none`, or words. */
  readonly right: string;
}

/** Every route that the document names, with the right that it asks for. test/http/rights.test.ts has the list. */
async function operationsOf(daemon: SimulatedDaemon): Promise<readonly Operation[]> {
  const { paths } = (await daemon.get('/api/openapi.json')).body;
  const all = Object.entries<Record<string, Record<string, string>>>(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([name, operation]) => ({
      method: name.toUpperCase(),
      path,
      right: operation['x-right'] ?? '',
    })),
  );
  expect(all.length).to.be.at.least(60);
  return all;
}

describe('access', () => {
  const daemon = simulatedDaemon();
  let operations: readonly Operation[];
  const as = (secret: string | undefined, method: string, path: string, body?: unknown) =>
    call(daemon.url, method, path, body, secret === undefined ? {} : bearer(secret));
  /** Calls a route without a body, which an act may refuse with 400 once the caller may act. */
  const ask = (secret: string | undefined, { method, path }: Operation) =>
    as(secret, path === '/api/events' ? 'HEAD' : method, path);
  const rightsOf = (role: Role): readonly string[] => ROLES[role];

  before(async () => {
    await open(daemon);
    operations = await operationsOf(daemon);
  });

  it("is everybody's while there is no token", async () => {
    for (const operation of operations) {
      expect((await ask(undefined, operation)).status, operation.path).to.not.be.oneOf([401, 403]);
    }
  });

  describe('while there are tokens', () => {
    before(() => close(daemon));

    it('asks for a token wherever a route asks for a right', async () => {
      for (const operation of operations.filter(({ right }) => RIGHTS.some(one => one === right))) {
        const [none, wrong] = [await ask(undefined, operation), await ask(newSecret(), operation)];
        for (const answer of [none, wrong]) {
          expect(answer.status, operation.path).to.equal(401);
          expect(answer.headers.get('www-authenticate')).to.equal('Bearer');
        }
        if (operation.path === '/api/events') continue;
        expect([none.body.code, wrong.body.code]).to.deep.equal(['token-required', 'token-unknown']);
      }
    });

    it('asks for no token wherever a route asks for none, and to stop', async () => {
      for (const operation of operations.filter(({ right }) => right === 'none' || right === 'stop')) {
        for (const secret of [undefined, newSecret()])
          expect((await ask(secret, operation)).status, operation.path).to.not.equal(401);
      }
      await as(SECRETS.operator, 'POST', '/api/resume');
    });

    for (const role of ROLE_NAMES) {
      it(`lets a ${role} do what the role allows, and nothing else`, async () => {
        for (const operation of operations) {
          const { path, right } = operation;
          const mayNot = RIGHTS.some(one => one === right) && !rightsOf(role).includes(right);
          const { status, body } = await ask(SECRETS[role], operation);
          expect(status === 403, path).to.equal(mayNot);
          if (mayNot) expect(body).to.include({ code: 'not-allowed' });
          if (mayNot) expect(body.detail).to.include(right);
        }
      });
      it(`lets a ${role} switch the laser off${role === 'operator' ? ', and on' : ' only'}`, async () => {
        await as(SECRETS.referee, 'POST', '/api/match/unlock');
        await eventually(async () => (await as(SECRETS.operator, 'POST', '/api/resume')).status === 200);
        const statusOf = async (action: string) =>
          (await as(SECRETS[role], 'POST', '/api/laser', { action })).status;
        expect(await statusOf('on')).to.equal(role === 'operator' ? 200 : 403);
        expect(await statusOf('off')).to.equal(200);
      });
    }

    it('stops and darkens for everyone, whatever token they send', async () => {
      const { port } = new URL(daemon.url);
      for (const headers of [
        { authorization: 'Bearer' },
        { authorization: 'Basic eDp5' },
        { authorization: `Bearer ${'k\u00ff'.repeat(500)}` },
        { cookie: `trunnion-${port}=x`, origin: 'http://elsewhere.example', 'sec-fetch-site': 'same-origin' },
      ]) {
        const off = await call(daemon.url, 'POST', '/api/laser', { action: 'off' }, headers);
        const stop = await call(daemon.url, 'POST', '/api/stop', undefined, headers);
        expect([off.status, stop.status]).to.deep.equal([200, 200]);
      }
      await as(SECRETS.operator, 'POST', '/api/resume');
    });

    it('keeps the connection of a token while strangers take all places', async () => {
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

    it('names the token in the log, and writes it nowhere', async () => {
      await as(SECRETS.operator, 'POST', '/api/chassis/mode/switch', { mode: 'debug' });
      await as(undefined, 'POST', '/api/session', { token: SECRETS.operator });
      const log = await as(SECRETS.spectator, 'GET', '/api/log');
      expect(log.body.events.at(-2)).to.include({ what: 'mode', who: 'operator', outcome: 'done' });
      expect(log.body.events.at(-1)).to.include({ what: 'login', who: 'operator', outcome: 'done' });
      for (const secret of Object.values(SECRETS)) {
        expect(log.text).to.not.include(secret);
        expect(JSON.stringify(daemon.logged)).to.not.include(secret);
      }
    });

    it('names the token of whoever is refused, too', async () => {
      await as(SECRETS.spectator, 'POST', '/api/resume');
      await as(SECRETS.spectator, 'POST', '/api/laser', { action: 'dim' });
      const { events } = (await as(SECRETS.spectator, 'GET', '/api/log')).body;
      const refusals = events.map(({ what, who, outcome }: Record<string, string>) => [what, who, outcome]);
      expect(refusals).to.deep.include(['resume', 'spectator', 'not-allowed']);
      expect(refusals).to.deep.include(['laser', 'spectator', 'invalid-request']);
    });

    it('holds at once for a token that was taken away, and ends its streams within a second', async () => {
      await close(daemon);
      const stream = await fetch(new URL('/api/events', daemon.url), { headers: bearer(SECRETS.spectator) });
      const reader = stream.body?.getReader();
      await reader?.read();
      const startMs = performance.now();
      await writeTokens(
        realDisk,
        daemon.folder,
        TOKENS.filter(({ role }) => role !== 'spectator'),
      );
      const ended = await Promise.resolve(readToEnd(reader)).then(() => performance.now() - startMs);
      expect(ended).to.be.lessThan(1000);
      expect((await as(SECRETS.spectator, 'GET', '/api/status')).body.code).to.equal('token-unknown');
      await close(daemon);
    });

    it('ends what a removed token began, also for a new token of its name', async () => {
      await close(daemon);
      const renewed = newSecret();
      await as(SECRETS.operator, 'POST', '/api/resume');
      await as(SECRETS.operator, 'POST', '/api/gimbal/mode/switch', { mode: 'debug' });
      await as(SECRETS.referee, 'POST', '/api/match/lease', { holder: 'red', ttlMs: 60_000 });
      const { revision: _, ...gains } = (await as(SECRETS.operator, 'GET', '/api/gimbal/pidconfig')).body;
      const trial = await as(SECRETS.operator, 'POST', '/api/gimbal/pidconfig/trial', { gains, leaseS: 5 });
      expect(trial.status, JSON.stringify(trial.body)).to.equal(200);
      await writeTokens(
        realDisk,
        daemon.folder,
        TOKENS.map(token =>
          token.role === 'spectator' ? token : { ...token, hash: hashOf(renewed + token.role) },
        ),
      );
      await eventually(async () => (await as(SECRETS.operator, 'GET', '/api/status')).status === 401);
      const again = { gains, leaseS: 5, id: trial.body.id };
      expect(
        (await as(`${renewed}operator`, 'POST', '/api/gimbal/pidconfig/trial', again)).body.code,
      ).to.equal('trial-ended');
      const lease = { holder: 'blue', ttlMs: 1000 };
      expect((await as(`${renewed}referee`, 'POST', '/api/match/lease', lease)).status).to.equal(200);
      await writeTokens(realDisk, daemon.folder, TOKENS);
      await eventually(async () => (await as(SECRETS.operator, 'GET', '/api/status')).status === 200);
    });

    it('holds for a request too whose body was on its way when the token was taken away', async () => {
      const body = JSON.stringify({ mode: 'auto' });
      const path = new URL('/api/gimbal/mode/switch', daemon.url);
      const headers = {
        ...bearer(SECRETS.operator),
        'content-type': 'application/json',
        'content-length': body.length,
        expect: '100-continue',
      };
      const asked = request(path, { method: 'POST', headers });
      asked.flushHeaders();
      await once(asked, 'continue');
      await writeTokens(
        realDisk,
        daemon.folder,
        TOKENS.filter(({ role }) => role !== 'operator'),
      );
      await eventually(async () => (await as(SECRETS.operator, 'GET', '/api/status')).status === 401);
      asked.end(body);
      const [answer] = await once(asked, 'response');
      expect(answer.statusCode).to.equal(401);
      answer.resume();
      await writeTokens(realDisk, daemon.folder, TOKENS);
      await eventually(async () => (await as(SECRETS.operator, 'GET', '/api/status')).status === 200);
    });

    it('is the same after a restart', async () => {
      await daemon.restart();
      expect((await as(undefined, 'GET', '/api/status')).status).to.equal(401);
      expect((await as(SECRETS.spectator, 'GET', '/api/status')).status).to.equal(200);
    });
  });

  describe('when the file of tokens is damaged', () => {
    before(async () => {
      await close(daemon);
      const path = tokenFile(daemon.folder);
      const file = await readFile(path);
      await writeFile(path, file.subarray(0, file.length / 2));
      await eventually(async () => (await daemon.get('/api/session')).body.access === 'unavailable');
    });
    it('refuses every act but a stop', async () => {
      for (const operation of operations) {
        const acts = ['drive', 'tune', 'rule'].includes(operation.right);
        for (const secret of [undefined, SECRETS.operator]) {
          const { body } = await ask(secret, operation);
          if (acts) expect(body, operation.path).to.include({ status: 503, code: 'access-unavailable' });
          else expect(body?.code, operation.path).to.not.equal('access-unavailable');
        }
      }
    });

    it('says to whoever logs in what cures it, as every other call does', async () => {
      const { body: refused } = await as(undefined, 'POST', '/api/session', { token: SECRETS.operator });
      expect(refused.detail).to.include('sudo trunnion token add');
      expect(refused).to.deep.equal((await as(undefined, 'POST', '/api/resume')).body);
    });

    it('says so in status, and does not open after a restart', async () => {
      await daemon.restart();
      const { access } = (await daemon.get('/api/status')).body;
      expect(access).to.include({ state: 'unavailable', exposed: false });
      expect(access.detail).to.include('sudo trunnion token add');
      expect((await as(undefined, 'POST', '/api/resume')).status).to.equal(503);
    });
  });
});

async function readToEnd(reader: ReadableStreamDefaultReader<Uint8Array> | undefined): Promise<void> {
  try {
    while (reader !== undefined && !(await reader.read()).done);
  } catch {
    // The connection was cut, which ends a stream as well.
  }
}

describe('access.stop: token', () => {
  const daemon = simulatedDaemon({ access: { stop: 'token' } });
  const calls = [
    ['/api/stop', undefined],
    ['/api/laser', { action: 'off' }],
  ] as const;
  const may = { referee: true, operator: true, spectator: false };

  for (const [path, body] of calls) {
    it(`asks for a token that drives or rules for ${path}`, async () => {
      await close(daemon);
      expect((await call(daemon.url, 'POST', path, body)).body.code).to.equal('token-required');
      for (const role of ROLE_NAMES) {
        const { status } = await call(daemon.url, 'POST', path, body, bearer(SECRETS[role]));
        expect(status).to.equal(may[role] ? 200 : 403);
      }
    });
    it(`lets everyone ${path} when the file of tokens is damaged`, async () => {
      await writeFile(tokenFile(daemon.folder), 'x');
      await eventually(async () => (await daemon.get('/api/session')).body.access === 'unavailable');
      expect((await call(daemon.url, 'POST', path, body)).status).to.equal(200);
    });
  }
});

describe('access.required: true', () => {
  const daemon = simulatedDaemon({ access: { required: true } });

  it('closes the robot before the first token', async () => {
    expect((await daemon.get('/api/status')).body.code).to.equal('token-required');
    expect((await daemon.post('/api/stop')).status).to.equal(200);
  });
});

describe("the page's session", () => {
  const daemon = simulatedDaemon();
  before(() => close(daemon));

  const login = async (token: string) => call(daemon.url, 'POST', '/api/session', { token });
  const cookieOf = ({ headers }: Answer) => headers.getSetCookie()[0] ?? '';
  const cookie = async (role: Role) => cookieOf(await login(SECRETS[role])).split(';')[0] ?? '';
  const origin = () => new URL(daemon.url).origin;

  it('is a cookie that scripts cannot read and other sites do not send', async () => {
    const answer = await login(SECRETS.operator);
    expect(answer.body).to.deep.equal({
      access: 'closed',
      name: 'operator',
      role: 'operator',
      rights: ['read', 'drive', 'tune'],
    });
    const { port } = new URL(daemon.url);
    expect(cookieOf(answer)).to.match(new RegExp(`^trunnion-${port}=`));
    expect(cookieOf(answer).toLowerCase()).to.include('httponly').and.include('samesite=strict');
    expect(cookieOf(answer).toLowerCase()).to.not.include('secure');
  });

  it('lasts by the clock of the browser, for that of the robot may be weeks behind', async () => {
    const begun = await login(SECRETS.operator);
    const ended = await call(daemon.url, 'DELETE', '/api/session');
    expect(cookieOf(begun).toLowerCase()).to.include('max-age=2592000').and.not.include('expires');
    expect(cookieOf(ended).toLowerCase()).to.include('max-age=0').and.not.include('expires');
  });

  it('is refused for a wrong token, and gives no cookie', async () => {
    const answer = await login(newSecret());
    expect(answer.body.code).to.equal('token-unknown');
    expect(cookieOf(answer)).to.equal('');
  });

  it('says who it is', async () => {
    const headers = { cookie: await cookie('referee') };
    const { body } = await call(daemon.url, 'GET', '/api/session', undefined, headers);
    expect(body).to.include({ name: 'referee', role: 'referee' });
    expect((await daemon.get('/api/session')).body).to.deep.equal({
      access: 'closed',
      name: null,
      role: null,
      rights: [],
    });
  });

  it('reads and streams', async () => {
    const headers = { cookie: await cookie('spectator') };
    expect((await call(daemon.url, 'GET', '/api/status', undefined, headers)).status).to.equal(200);
    expect((await call(daemon.url, 'HEAD', '/api/events', undefined, headers)).status).to.equal(200);
  });

  it('acts for a page that came from here only', async () => {
    const cookies = await cookie('operator');
    const act = (headers: Record<string, string>) => resumeWith(daemon.url, { cookie: cookies, ...headers });
    expect(await act({ origin: origin() })).to.equal(200);
    expect(await act({})).to.equal(403);
    expect(await act({ origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' })).to.equal(403);
  });

  it('ends', async () => {
    const headers = { cookie: await cookie('operator') };
    const answer = await call(daemon.url, 'DELETE', '/api/session', undefined, headers);
    expect(answer.body.name).to.equal(null);
    expect(cookieOf(answer)).to.match(/^trunnion-\d+=;/);
  });

  it('survives a restart', async () => {
    const headers = { cookie: await cookie('spectator') };
    const { port } = new URL(daemon.url);
    const renamed = () => headers.cookie.replace(port, new URL(daemon.url).port);
    await daemon.restart();
    const answer = await call(daemon.url, 'GET', '/api/status', undefined, { cookie: renamed() });
    expect(answer.status).to.equal(200);
  });

  it('leaves streams for those who drive and rule', async () => {
    const streams: IncomingMessage[] = [];
    const stream = async (role: Role) => {
      const asked = get(new URL('/api/events', daemon.url), { headers: bearer(SECRETS[role]), agent: false });
      const [response]: IncomingMessage[] = await once(asked, 'response');
      streams.push(response!.on('error', () => undefined));
      return response!.statusCode;
    };
    for (let count = 0; count < 24; count += 1) expect(await stream('spectator')).to.equal(200);
    expect(await stream('spectator')).to.equal(503);
    expect(await stream('operator')).to.equal(200);
    expect(await stream('referee')).to.equal(200);
    for (const response of streams) response.destroy();
  });
});

/** Node's fetch sends headers of its own: this sends these. */
function resumeWith(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(new URL('/api/resume', url), { method: 'POST', headers, agent: false }, response => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}
