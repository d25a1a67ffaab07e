import type { Server } from 'node:http';
import { expect } from 'chai';
import { type Logger, pino } from 'pino';
import { Access } from '../../src/access/access.js';
import { tokenFile } from '../../src/access/token-file.js';
import { MemoryLog } from '../../src/events/memory-log.js';
import { containment } from '../../src/http/contain.js';
import { get, post, type Route } from '../../src/http/route.js';
import { createRouteApp } from '../../src/http/route-app.js';
import { createHttpServer } from '../../src/http/server.js';
import * as s from '../../src/schemas/schema.js';
import { tokenListOf } from '../support/callers.js';
import { ManualClock } from '../support/manual-clock.js';
import { MemoryCall } from '../support/memory-call.js';
import { RecordingDisk } from '../support/recording-disk.js';

/** More reads than leave in a turn. */
const READS = 12;
const DONE = s.answer('Done', { done: s.yesNo() });

interface Settings {
  readonly files?: Readonly<Record<string, Buffer>>;
  readonly log: Logger;
  readonly kept?: () => Promise<void>;
}

/** A server of these routes, with the check of tokens that it uses. */
async function serve(routes: readonly Route[], { files = {}, log, kept }: Settings) {
  const clock = new ManualClock();
  const disk = new RecordingDisk(files);
  const access = new Access({ disk, folder: '/state', clock, required: false, stop: 'anyone' });
  await access.open();
  const app = createRouteApp({
    routes,
    access,
    clock,
    log,
    eventLog: new MemoryLog(clock),
    kept,
    allowedHosts: [],
    pageFolder: '/nowhere',
  });
  return { access, server: createHttpServer(app.listener, containment(log)) };
}

describe('while 12 read requests of an operator wait, the server', () => {
  let server: Server;
  let access: Access;
  /** The requests in the order of their answers. */
  let answered: string[];

  beforeEach(async () => {
    const files = { [tokenFile('/state')]: tokenListOf(['operator', 'referee']) };
    const act = () => ({ done: true });
    const door = s.body('Door', { open: s.yesNo() });
    const routes = [
      get('/read', 'read', { id: 'read', summary: 'Read', answer: DONE, act }),
      get('/stream', 'read', { id: 'stream', summary: 'Stream', answer: DONE, events: {}, act }),
      post('/act', 'rule', { id: 'act', summary: 'Act', answer: DONE, act }),
      post('/login', 'none', { id: 'login', summary: 'Log in', answer: DONE, act }),
      post('/safe', 'stop', { id: 'safe', summary: 'Make safe', answer: DONE, act }),
      post(
        '/door',
        { of: ({ open }: s.TypeOf<typeof door>) => (open ? 'rule' : 'stop'), text: '' },
        { id: 'door', summary: 'Door', body: door, answer: DONE, act },
      ),
    ];
    ({ access, server } = await serve(routes, { files, log: pino({ level: 'silent' }) }));
  });
  afterEach(() => access.close());

  const send = (ask: string, as: string, body?: unknown) => {
    const call = new MemoryCall(server, { ask, as, body });
    void call.answer.then(() => answered.push(ask));
    return call.answer;
  };
  /** Sends this request after many reads on other connections. Returns its place among the answers. */
  const placeOf = async (ask: string, as: string, body?: unknown) => {
    answered = [];
    const reads = Array.from({ length: READS }, () => send('GET /read', 'operator'));
    await Promise.all([...reads, send(ask, as, body)]);
    return answered.indexOf(ask);
  };

  it('answers a permitted act before most of them, but a request for an event stream only after all 12', async () => {
    for (const ask of ['POST /act', 'POST /safe']) expect(await placeOf(ask, 'referee')).to.be.at.most(4);
    expect(await placeOf('POST /door', 'nobody', { open: false })).to.be.at.most(4);
    expect(await placeOf('GET /stream', 'referee')).to.equal(READS);
  });

  it('answers any act, read or login of a caller without rights only after all 12', async () => {
    for (const ask of ['POST /act', 'GET /stream', 'GET /read?a', 'POST /login', 'GET /nothing'])
      expect(await placeOf(ask, 'nobody')).to.equal(READS);
  });
});

describe('if the caller of a successful act hangs up', () => {
  for (const [when, isInAct, isBeforeKept] of [
    ['during the act', true, false],
    ['while the event of the act is being stored', false, true],
  ] as const)
    it(`${when}, the log on stdout shows status 200`, async () => {
      const lines: { readonly msg: string; readonly status: number }[] = [];
      const log = pino({ level: 'info' }, { write: line => void lines.push(JSON.parse(line)) });
      let call: MemoryCall | undefined;
      const hangUp = async (isNow: boolean) => {
        if (!isNow) return;
        call?.hangUp();
        await new Promise(resolve => setImmediate(resolve));
      };
      const act = () => hangUp(isInAct).then(() => ({ done: true }));
      const route = post('/act', 'stop', { id: 'act', summary: 'Act', answer: DONE, act });
      const { server, access } = await serve([route], { log, kept: () => hangUp(isBeforeKept) });
      call = new MemoryCall(server, { ask: 'POST /act' });
      while (lines.length === 0) await new Promise(resolve => setImmediate(resolve));
      expect(lines.map(({ msg, status }) => [msg, status])).to.deep.equal([['request', 200]]);
      access.close();
    });
});
