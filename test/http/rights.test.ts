import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import Koa from 'koa';
import { asRobotError, RobotError } from '../../src/core/errors.js';
import type { Need } from '../../src/core/rights.js';
import { problemOf } from '../../src/http/problems.js';
import { get, post, type Route } from '../../src/http/route.js';
import { object, oneOf } from '../../src/schemas/schema.js';
import { call } from '../support/daemon.js';
import { simulatedDaemon } from '../support/simulated-daemon.js';

describe('the right that a call asks for', () => {
  const daemon = simulatedDaemon();

  it('stands in the document for every path', async () => {
    const { body } = await call(daemon.url, 'GET', '/api/openapi.json');
    const rights: Record<string, string> = {};
    for (const [path, operations] of Object.entries<Record<string, Record<string, string>>>(body.paths)) {
      for (const [method, operation] of Object.entries(operations))
        rights[`${method} ${path}`] = operation['x-right'] ?? '';
    }
    const ofUnit = (unit: string) => ({
      [`post /api/${unit}/mode/switch`]: 'drive',
      [`get /api/${unit}/excitation`]: 'read',
      [`post /api/${unit}/excitation`]: 'drive',
      [`get /api/${unit}/pidconfig`]: 'read',
      [`post /api/${unit}/pidconfig`]: 'tune',
      [`get /api/${unit}/pidconfig/history`]: 'read',
      [`post /api/${unit}/pidconfig/restore`]: 'tune',
      [`post /api/${unit}/pidconfig/trial`]: 'tune',
      [`delete /api/${unit}/pidconfig/trial`]: 'tune',
      [`get /api/${unit}/steps`]: 'read',
      [`get /api/${unit}/steps/best`]: 'read',
      [`get /api/${unit}/step`]: 'read',
      [`get /api/${unit}/profiles`]: 'read',
      [`post /api/${unit}/profiles`]: 'tune',
      [`post /api/${unit}/profiles/load`]: 'tune',
      [`post /api/${unit}/profiles/star`]: 'tune',
      [`post /api/${unit}/profiles/remove`]: 'tune',
      [`get /api/${unit}/compare`]: 'read',
      [`post /api/${unit}/autotune`]: 'drive',
      [`get /api/${unit}/autotune`]: 'read',
      [`delete /api/${unit}/autotune`]: 'tune',
    });
    expect(rights).to.deep.equal({
      ...ofUnit('gimbal'),
      ...ofUnit('chassis'),
      'get /api/profiles': 'read',
      'post /api/laser': '`drive` to switch it on, `stop` to switch it off',
      'post /api/stop': 'stop',
      'post /api/resume': 'drive',
      'get /api/match': 'read',
      'post /api/match': 'rule',
      'post /api/match/lease': 'rule',
      'post /api/match/lock': 'rule',
      'post /api/match/unlock': 'rule',
      'get /api/status': 'read',
      'get /api/log': 'read',
      'get /api/log/head': 'read',
      'get /api/events': 'read',
      'get /api/openapi.json': 'read',
      'get /api/session': 'none',
      'post /api/session': 'none',
      'delete /api/session': 'none',
      'get /healthz': 'none',
      'get /sim/state': 'read',
      'post /sim/faults': 'drive',
    });
  });

  it('is a security requirement there, which a stop does not have to meet', async () => {
    const { paths, components } = (await call(daemon.url, 'GET', '/api/openapi.json')).body;
    expect(components.securitySchemes.token).to.include({ type: 'http', scheme: 'bearer' });
    const needsToken = [{ token: [] }];
    for (const [path, method, security] of [
      ['/healthz', 'get', []],
      ['/api/stop', 'post', [{}, ...needsToken]],
      ['/api/laser', 'post', [{}, ...needsToken]],
      ['/api/status', 'get', needsToken],
      ['/sim/faults', 'post', needsToken],
    ] as const) {
      expect(paths[path][method].security, path).to.deep.equal(security);
    }
  });

  it('stands there with the refusals of those who do not have it', async () => {
    const { body } = await call(daemon.url, 'GET', '/api/openapi.json');
    for (const operations of Object.values<Record<string, Record<string, object>>>(body.paths)) {
      for (const operation of Object.values(operations)) {
        const asks = String(operation['x-right']) !== 'none';
        expect('401' in (operation.responses ?? {}) || !asks).to.equal(true);
        expect('403' in (operation.responses ?? {})).to.equal(true);
      }
    }
    const { responses } = body.paths['/api/gimbal/autotune'].post;
    expect(responses['409'].description).to.include('`locked`').and.include('`wrong-phase`');
  });
});

describe('authorization', () => {
  const switched = object({ action: oneOf(['on', 'off']) });
  const common = { tag: 'Test', summary: 'Test' };
  let refused: Need | undefined;
  let asked: Need[] = [];
  let acts = 0;
  const act = () => {
    acts += 1;
    return { action: 'on' as const };
  };
  const routes: Record<string, Route> = {
    '/read': get('/read', 'read', {
      ...common,
      id: 'read',
      answer: switched,
      act,
    }),
    '/save': post('/save', 'tune', {
      ...common,
      id: 'save',
      body: switched,
      answer: switched,
      act,
    }),
    '/resume': post('/resume', 'drive', {
      ...common,
      id: 'resume',
      answer: switched,
      act,
    }),
    '/laser': post(
      '/laser',
      { of: ({ action }) => (action === 'on' ? 'drive' : 'stop'), text: 'either' },
      {
        ...common,
        id: 'laser',
        body: switched,
        answer: switched,
        act,
      },
    ),
  };
  let server: Server;
  let url: string;

  before(done => {
    const app = new Koa();
    app.use(async ctx => {
      try {
        await routes[ctx.path]?.handle(ctx, (_, need) => {
          // It is asked for `none` too, which names the caller and refuses nobody.
          if (need !== 'none') asked.push(need);
          if (need === refused) throw new RobotError('token-required');
        });
      } catch (error) {
        const { problem, headers } = problemOf(asRobotError(error));
        ctx.set(headers);
        ctx.status = problem.status;
        ctx.body = problem;
      }
    });
    server = createServer(app.callback()).listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      done();
    });
  });
  after(() => server.close());
  beforeEach(() => {
    refused = undefined;
    asked = [];
    acts = 0;
  });

  const calls: readonly [string, string, unknown, Need][] = [
    ['GET', '/read', undefined, 'read'],
    ['POST', '/save', { action: 'on' }, 'tune'],
    ['POST', '/resume', undefined, 'drive'],
    ['POST', '/laser', { action: 'on' }, 'drive'],
    ['POST', '/laser', { action: 'off' }, 'stop'],
  ];
  for (const [method, path, body, need] of calls) {
    it(`is asked for "${need}" and nothing else before ${method} ${path} ${JSON.stringify(body) ?? ''} acts`, async () => {
      expect((await call(url, method, path, body)).status).to.equal(200);
      expect([[...new Set(asked)], acts]).to.deep.equal([[need], 1]);
      refused = need;
      const answer = await call(url, method, path, body);
      expect([answer.status, answer.headers.get('www-authenticate')]).to.deep.equal([401, 'Bearer']);
      expect(acts).to.equal(1);
    });
  }

  it('refuses before anything is said about the body, where the right does not hang on it', async () => {
    refused = 'tune';
    expect((await call(url, 'POST', '/save', '{')).status).to.equal(401);
    expect((await call(url, 'POST', '/laser', '{')).status).to.equal(400);
  });
});
