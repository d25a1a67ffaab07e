import type { Session } from '../../src/console/daemon/daemon.js';
import { every } from '../../src/core/clock.js';
import { defaultGains, perUnit, UNIT_LIST, type UnitName, unitNamed } from '../../src/core/units.js';
import type { LogEvent } from '../../src/schemas/log.js';
import type { Status } from '../../src/schemas/status.js';
import type { Telemetry } from '../../src/schemas/telemetry.js';
import { ManualClock } from '../support/manual-clock.js';
import { statusWith, UNIT_STATUS } from '../support/status.js';
import type { FakeAnswer, PageDaemon, Stream } from './page-daemon.js';

const SESSION: Session = {
  access: 'open',
  name: null,
  role: null,
  rights: ['read', 'drive', 'tune', 'rule'],
};
const HEARS_MS = 100;

const done = (body: unknown = {}): FakeAnswer => ({ status: 200, body });

/**
 * Shows a page any state and any event, for what the real daemon never shows, or not at a moment that a test can choose.
 * It obeys stop, resume and modes, and answers nothing else.
 */
export class FakeDaemon implements PageDaemon {
  readonly clock = new ManualClock();
  readonly version = '1';
  stopped = false;
  light: Status['laser']['light'] = 'dark';
  readonly units = perUnit(() => UNIT_STATUS);
  /** Further members of its status. */
  more: Partial<Status> = {};
  /** The earlier readings that it has. */
  past: readonly Telemetry[] = [];
  events: LogEvent[] = [];
  /** The open streams of all pages. */
  readonly #streams = new Set<(type: string, data: string) => void>();
  #seq = 0;

  get status(): Status {
    return statusWith({
      version: this.version,
      uptimeS: 60 + this.clock.nowMs() / 1000,
      stopped: this.stopped,
      laser: { state: this.light === 'on' ? 'on' : 'off', light: this.light },
      ...this.units,
      ...this.more,
    });
  }

  /** Changes what it shows of a unit. */
  shows(unit: UnitName, changed: Partial<Status['gimbal']>): void {
    this.units[unit] = { ...this.units[unit], ...changed };
  }

  /** Answers a request. Tests call it for requests of other callers. */
  answer(method: string, path: string, body: unknown = {}): FakeAnswer {
    const { pathname } = new URL(path, 'http://robot');
    const [, unit, rest] = /^\/api\/(gimbal|chassis)\/(.*)$/.exec(pathname) ?? [];
    const asked = Object(body);
    if (unit === 'gimbal' || unit === 'chassis') {
      if (rest === 'mode/switch') this.shows(unit, { mode: asked.mode, excitation: null });
      if (rest === 'pidconfig') return done(defaultGains(unitNamed(unit)));
      return done(rest === 'autotune' ? { tune: null } : method === 'GET' ? [] : {});
    }
    switch (`${method} ${pathname}`) {
      case 'POST /api/stop':
        this.stopped = true;
        this.light = 'dark';
        for (const { name } of UNIT_LIST) this.shows(name, { flags: ['stopped'] });
        return done();
      case 'POST /api/resume':
        this.stopped = false;
        for (const { name } of UNIT_LIST) this.shows(name, { flags: [] });
        return done();
      case 'GET /api/session':
        return done(SESSION);
      case 'GET /api/telemetry':
        return done(this.past);
      case 'GET /api/log':
        return done({ boot: 'one', events: [...this.events], dropped: 0 });
      default:
        return done();
    }
  }

  log(event: Partial<LogEvent>): void {
    this.#seq += 1;
    const full = { seq: this.#seq, t: 0, at: '2030-01-01T00:00:00.000Z', what: 'mode', ...event };
    this.events.push(full);
    this.say('log', full);
  }

  say(type: string, data: unknown): void {
    for (const hear of this.#streams) hear(type, JSON.stringify(data));
  }

  listen(hear: (type: string, data: string) => void): Stream {
    this.#streams.add(hear);
    this.clock.after(0, () => hear('', ''));
    const end = every(this.clock, HEARS_MS, () => {
      hear('status', JSON.stringify(this.status));
      hear('telemetry', JSON.stringify({ t: this.clock.nowMs() / 1000, gimbal: null, chassis: null }));
    });
    return {
      isClosed: () => false,
      close: () => {
        end();
        this.#streams.delete(hear);
      },
    };
  }
}
