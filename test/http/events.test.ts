import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type Server } from 'node:http';
import { expect } from 'chai';
import Koa from 'koa';
import { pino } from 'pino';
import { RIGHTS } from '../../src/access/roles.js';
import { isRobotError } from '../../src/core/errors.js';
import { Listeners } from '../../src/core/listeners.js';
import type { Mode } from '../../src/core/units.js';
import { containment } from '../../src/http/contain.js';
import { createEvents, type EventSources, type Events } from '../../src/http/events.js';
import type { LogEvent } from '../../src/schemas/log.js';
import type { Status } from '../../src/schemas/status.js';
import type { Step } from '../../src/schemas/step.js';
import type { Telemetry } from '../../src/schemas/telemetry.js';
import type { Tune } from '../../src/schemas/tune.js';
import { stepFigures } from '../../src/tuning/step-figures.js';
import { eventually, portOf } from '../support/daemon.js';
import { ManualClock, settle } from '../support/manual-clock.js';
import { statusWith, UNIT_STATUS } from '../support/status.js';

const OPEN_TO_ALL = {
  callerOf: () => ({ token: undefined, rights: RIGHTS }),
  allows: () => true,
  changed: new Listeners<void>(),
};

class ScriptedSources implements EventSources {
  readonly telemetry = new Listeners<Telemetry>();
  readonly step = new Listeners<Step>();
  readonly tune = new Listeners<Tune>();
  readonly log = new Listeners<{ readonly event: LogEvent }>();
  mode: Mode | undefined = 'manual';

  status() {
    if (this.mode === undefined) throw new Error('a defect');
    return statusIn(this.mode);
  }
}

const statusIn = (mode: Mode): Status => statusWith({ gimbal: { ...UNIT_STATUS, mode } });

const STEP: Step = {
  unit: 'gimbal',
  loop: 'angle_yaw',
  number: 1,
  rateHz: 1000,
  decimation: 2,
  periodS: 0.002,
  samples: { setpoint: [1], measured: [0] },
  figures: stepFigures({ measured: [0, 1, 1], periodS: 0.002, oldSetpoint: 0, setpoint: 1 }),
};

/** One reader of a stream, and what it has read. */
class Reader {
  text = '';
  readonly response: IncomingMessage;

  constructor(response: IncomingMessage) {
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', part => {
      this.text += part;
    });
    response.on('error', () => undefined);
  }

  events(name?: string): { name: string; data: unknown }[] {
    return [...this.text.matchAll(/event: (\w+)\ndata: (.*)\n\n/g)]
      .map(([, event = '', data = '']) => ({ name: event, data: JSON.parse(data) }))
      .filter(event => name === undefined || event.name === name);
  }

  until(holds: () => boolean): Promise<void> {
    return eventually(async () => holds());
  }
}

describe('the event stream', () => {
  let sources: ScriptedSources;
  let clock: ManualClock;
  const logged: string[] = [];
  const log = pino({}, { write: (line: string) => logged.push(line) });
  let events: Events;
  let server: Server;
  let url: string;
  const opened = new Listeners<void>();
  const responses: IncomingMessage[] = [];

  beforeEach(done => {
    sources = new ScriptedSources();
    clock = new ManualClock();
    events = createEvents(sources, clock, OPEN_TO_ALL, containment(log));
    const app = new Koa();
    app.silent = true;
    app.use(async (ctx, next) => {
      ctx.state.id = '1';
      await next().catch(error => {
        ctx.status = isRobotError(error, 'too-many-streams') ? 503 : 500;
      });
    });
    app.use(async ctx => {
      if (ctx.path === '/waits') await once(ctx.res, 'close');
      events.open(ctx);
      opened.emit();
    });
    server = createServer(app.callback()).listen(0, '127.0.0.1', () => {
      url = `http://127.0.0.1:${portOf(server)}`;
      done();
    });
  });
  afterEach(() => {
    for (const response of responses.splice(0)) response.destroy();
    server.closeAllConnections();
    server.close();
  });

  function connect(method = 'GET'): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      get(url, { agent: false, method }, response => {
        responses.push(response);
        resolve(response);
      }).on('error', reject);
    });
  }
  async function read(): Promise<Reader> {
    const reader = new Reader(await connect());
    await reader.until(() => reader.events('status').length > 0);
    return reader;
  }
  const sample = (t: number, padding = ''): Telemetry => ({ t, gimbal: { [padding]: true }, chassis: null });

  it('has the content type "text/event-stream", and begins with a retry time and the present status', async () => {
    const reader = await read();
    expect(reader.response.headers['content-type']).to.match(/^text\/event-stream/);
    expect(reader.text).to.match(/^retry: \d+\n\n/);
    expect(reader.events()).to.deep.equal([{ name: 'status', data: statusIn('manual') }]);
  });

  it('sends only the newest status if the status changes twice within 50 ms', async () => {
    const early = await read();
    sources.mode = 'auto';
    sources.mode = 'debug';
    await clock.advance(50);
    const late = await read();
    sources.mode = 'auto';
    await clock.advance(50);
    for (const [reader, before] of [
      [early, ['manual', 'debug']],
      [late, ['debug']],
    ] as const) {
      const modes = () => reader.events('status').map(({ data }) => data);
      await reader.until(() => modes().length > before.length);
      expect(modes()).to.deep.equal([...before, 'auto' as const].map(statusIn));
    }
  });

  it('logs the exception if a status cannot be computed, and still sends the next status', async () => {
    const reader = await read();
    sources.mode = undefined;
    await clock.advance(50);
    sources.mode = 'auto';
    await clock.advance(50);
    await reader.until(() => reader.events('status').length > 1);
    expect(logged.join('')).to.include('a defect');
  });

  it('sends telemetry, captured steps and status to every reader', async () => {
    const readers = await Promise.all([read(), read(), read()]);
    sources.telemetry.emit(sample(1));
    sources.step.emit(STEP);
    sources.mode = 'auto';
    await clock.advance(50);
    for (const reader of readers) {
      await reader.until(() => reader.events('status').length > 1);
      expect(
        reader
          .events()
          .slice(1)
          .map(event => event.name),
      ).to.deep.equal(['telemetry', 'step', 'status']);
      expect(reader.events('step')[0]?.data).to.deep.equal(STEP);
    }
  });

  it('sends telemetry readings two at a time, and loses no reading', async () => {
    const reader = await read();
    let pieces = 0;
    reader.response.on('data', () => {
      pieces += 1;
    });
    for (let poll = 51; poll <= 100; poll += 1) {
      sources.telemetry.emit(sample(poll / 50));
      await settle(1);
    }
    await reader.until(() => reader.events('telemetry').length >= 49);
    expect(pieces).to.be.at.most(26);
    // A status takes a single waiting reading along.
    sources.mode = 'auto';
    await clock.advance(50);
    await reader.until(() => reader.events('telemetry').length === 50);
    const seen = reader.events('telemetry').map(({ data }) => (data as Telemetry).t);
    expect(seen).to.deep.equal(Array.from({ length: 50 }, (_, index) => (51 + index) / 50));
  });

  it('sends waiting telemetry readings before a newer status', async () => {
    const reader = await read();
    sources.telemetry.emit(sample(1));
    sources.telemetry.emit(sample(1.02));
    sources.mode = 'auto';
    await clock.advance(50);
    sources.telemetry.emit(sample(1.04));
    await reader.until(() => reader.events('telemetry').length === 3);
    expect(reader.events().map(({ name }) => name)).to.deep.equal([
      'status',
      'telemetry',
      'telemetry',
      'status',
      'telemetry',
    ]);
  });

  it('sends a comment line, which browsers ignore, after at most 10 s without an event', async () => {
    const reader = await read();
    await clock.advance(10_000);
    await reader.until(() => /\n:.*\n\n/.test(reader.text));
  });

  it('collects telemetry and captured step responses only while a client reads the stream', async () => {
    expect(sources.telemetry.any).to.equal(false);
    const reader = await read();
    expect(sources.telemetry.any).to.equal(true);
    reader.response.destroy();
    await reader.until(() => !sources.telemetry.any && !sources.step.any);
  });

  it('serves 32 readers, answers 503 to the 33rd, and does not count a HEAD request as a reader', async () => {
    for (let count = 0; count < 32; count += 1) await read();
    expect((await connect('HEAD')).statusCode).to.equal(200);
    expect((await connect()).statusCode).to.equal(503);
    responses[0]?.destroy();
    await eventually(async () => (await connect()).statusCode === 200);
  });

  it('is not opened if the client disconnects while its request waits', async () => {
    const isOver = new Promise<void>(resolve => opened.add(resolve));
    const request = get(`${url}/waits`, { agent: false }).on('error', () => undefined);
    await once(server, 'request');
    request.destroy();
    await isOver;
    expect(events.streams).to.equal(0);
  });

  const FLOOD = 500;
  /** A reader that accepts no more data. */
  async function slowReader(): Promise<Reader> {
    const slow = await read();
    slow.response.pause();
    for (let index = 0; index < FLOOD; index += 1) {
      sources.telemetry.emit(sample(index, 'x'.repeat(50_000)));
      if (index % 20 === 0) await settle(1);
    }
    return slow;
  }
  const event = (seq: number): LogEvent => ({ seq, t: seq, at: '2030-01-01T00:00:00Z', what: 'mode' });

  it('drops telemetry for a slow reader, but sends it all log events and captured steps in order, and after them the newest status', async () => {
    const slow = await slowReader();
    sources.log.emit({ event: event(1) });
    sources.step.emit(STEP);
    sources.log.emit({ event: event(2) });
    sources.mode = 'auto';
    await clock.advance(50);
    slow.response.resume();
    await slow.until(() => slow.events('status').length > 1);
    expect(slow.events().slice(-4)).to.deep.equal([
      { name: 'log', data: event(1) },
      { name: 'step', data: STEP },
      { name: 'log', data: event(2) },
      { name: 'status', data: JSON.parse(JSON.stringify(statusIn('auto'))) },
    ]);
    expect(slow.events('telemetry').length).to.be.below(FLOOD / 2);
  });

  it('disconnects a slow reader if more than 50 log events wait for that reader', async () => {
    const slow = await slowReader();
    for (let seq = 0; seq < 50; seq += 1) sources.log.emit({ event: event(seq) });
    expect(slow.response.destroyed).to.equal(false);
    await eventually(async () => events.streams === 1);
    sources.log.emit({ event: event(50) });
    await eventually(async () => events.streams === 0);
  });

  it('disconnects a reader that has read nothing for 2 s', async () => {
    const stuck = new Reader(await connect());
    await read();
    stuck.response.pause();
    for (let index = 0; index < FLOOD; index += 1) {
      sources.telemetry.emit(sample(index, 'x'.repeat(50_000)));
      await settle(1);
    }
    await clock.advance(1900);
    sources.telemetry.emit(sample(FLOOD));
    await settle(1);
    expect(events.streams).to.equal(2);
    await clock.advance(200);
    sources.telemetry.emit(sample(FLOOD + 1));
    await eventually(async () => events.streams === 1);
    stuck.response.resume();
    await stuck.until(() => stuck.response.destroyed);
  });
});
