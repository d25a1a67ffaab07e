import type { Session } from '../../src/console/daemon/daemon.js';
import { DEFAULT_PERMISSIONS, type Phase } from '../../src/core/phases.js';
import { defaultGains, type GainSet, perUnit, UNIT_LIST, type UnitName } from '../../src/core/units.js';
import type { LogEvent } from '../../src/schemas/log.js';
import type { MatchStatus } from '../../src/schemas/match.js';
import type { Status, TrialStatus } from '../../src/schemas/status.js';
import type { Telemetry } from '../../src/schemas/telemetry.js';
import { NO_MATCH_STATUS, statusWith, UNIT_STATUS } from '../support/status.js';

export interface FakeAnswer {
  readonly status: number;
  readonly body: unknown;
}

export const OPEN: Session = {
  access: 'open',
  name: null,
  role: null,
  rights: ['read', 'drive', 'tune', 'rule'],
};
export const NOBODY: Session = { access: 'closed', name: null, role: null, rights: [] };
export const OPERATOR: Session = {
  access: 'closed',
  name: 'op',
  role: 'operator',
  rights: ['read', 'drive', 'tune'],
};

const done = (body: unknown = {}): FakeAnswer => ({ status: 200, body });
export const refused = (status: number, code: string, detail = 'A reason.', more = {}): FakeAnswer => ({
  status,
  body: { code, detail, ...more },
});

/** The daemon as a page sees it, with its state and its answers, but without a network. */
export class FakeDaemon {
  version = '1';
  /** The time of its start on the test's clock. */
  startedMs = -60_000;
  boot = 'one';
  stopped = false;
  light: Status['laser']['light'] = 'dark';
  session = OPEN;
  /** The answer of GET /api/session to each token. */
  readonly tokens = new Map<string, Session>();
  /** Whether a STOP needs the right to drive. */
  stopNeedsRight = false;
  readonly units = perUnit(unit => ({
    ...UNIT_STATUS,
    saved: [defaultGains(unit)],
    savedAt: null as string | null,
    trial: undefined as (TrialStatus & { readonly gains: GainSet }) | undefined,
  }));
  match: MatchStatus = NO_MATCH_STATUS;
  beatAgeS: number | null = null;
  nowS = () => 0;
  past: readonly Telemetry[] = [];
  more: Partial<Status> = {};
  events: LogEvent[] = [];
  /** The open streams of all pages. */
  readonly streams = new Set<(type: string, data: unknown) => void>();
  /** Answers that replace the daemon's own. */
  override: (method: string, path: string, body: unknown) => FakeAnswer | undefined = () => undefined;
  #seq = 0;
  #trials = 0;

  status(nowMs: number): Status {
    const unit = (name: UnitName): Status['gimbal'] => {
      const { saved, savedAt, trial, ...status } = this.units[name];
      const gains = { revision: saved.length - 1, savedAt, applied: trial === undefined };
      return { ...status, gains: trial === undefined ? gains : { ...gains, trial } };
    };
    return statusWith({
      version: this.version,
      uptimeS: (nowMs - this.startedMs) / 1000,
      stopped: this.stopped,
      laser: { state: this.light === 'on' ? 'on' : 'off', light: this.light },
      gimbal: unit('gimbal'),
      chassis: unit('chassis'),
      access: { state: this.session.access, exposed: false },
      match: this.match,
      ...this.more,
    });
  }

  /** Answers a request. Tests call it for requests of other callers. */
  answer(method: string, path: string, body: unknown = {}): FakeAnswer {
    const { pathname, searchParams } = new URL(path, 'http://robot');
    const own = this.override(method, pathname, body);
    if (own !== undefined) return own;
    const [, unit = '', rest = ''] = /^\/api\/(gimbal|chassis)\/(.*)$/.exec(pathname) ?? [];
    const asked = Object(body);
    if (unit === 'gimbal' || unit === 'chassis')
      return this.#unitAnswer(unit, method, rest, searchParams, asked);
    switch (`${method} ${pathname}`) {
      case 'POST /api/stop':
        if (this.stopNeedsRight && !this.session.rights.includes('drive'))
          return refused(403, 'not-allowed', 'Your token may not stop.');
        this.stopped = true;
        this.light = 'dark';
        for (const { name } of UNIT_LIST) {
          this.units[name] = { ...this.units[name], flags: ['stopped'], trial: undefined };
        }
        return done();
      case 'POST /api/resume':
        this.stopped = false;
        for (const { name } of UNIT_LIST) this.units[name] = { ...this.units[name], flags: [] };
        return done();
      case 'POST /api/laser':
        if (asked.action === 'on' && this.stopped) return refused(409, 'stopped');
        this.light = asked.action === 'on' ? 'on' : 'dark';
        return done();
      case 'GET /api/session':
        return done(this.session);
      case 'POST /api/session': {
        const session = this.tokens.get(asked.token);
        if (session === undefined) return refused(401, 'unknown-token', 'This token is not known.');
        this.session = session;
        return done(session);
      }
      case 'DELETE /api/session':
        this.session = NOBODY;
        return done(NOBODY);
      case 'GET /api/match':
        return done({ ...this.match, beatAgeS: this.beatAgeS });
      case 'POST /api/match/lease': {
        const { lease } = this.match;
        if (lease && lease.holder !== asked.holder && !asked.takeover) return refused(409, 'lease-held');
        this.match = { ...this.match, lease: { holder: asked.holder, by: 'ref' } };
        return done();
      }
      case 'POST /api/match': {
        if (asked.revision <= this.match.revision) return refused(409, 'stale-match');
        const endsAtT = asked.remainingS === null ? null : this.nowS() + asked.remainingS;
        const { id, revision, phase } = asked;
        this.match = {
          ...this.match,
          id,
          revision,
          phase,
          endsAtT,
          allows: DEFAULT_PERMISSIONS[phase as Phase],
        };
        return done();
      }
      case 'POST /api/match/lock':
        this.match = { ...this.match, lock: { id: 'L1', by: 'ref', reason: asked.reason } };
        return done();
      case 'POST /api/match/unlock':
        this.match = { ...this.match, lock: null };
        return done();
      case 'GET /api/telemetry':
        return done(this.past);
      case 'GET /api/log':
        return done({ boot: this.boot, events: [...this.events], dropped: 0 });
      default:
        return done();
    }
  }

  /** A new process takes over: its log begins again, and nothing moves. */
  restart(nowMs: number): void {
    this.startedMs = nowMs;
    this.boot = `boot ${nowMs}`;
    this.events = [];
    this.light = 'dark';
    for (const { name } of UNIT_LIST)
      this.units[name] = { ...this.units[name], mode: 'manual', excitation: null, trial: undefined };
    this.log({ what: 'start' });
  }

  save(unit: UnitName, loop: string, kp: number): void {
    const gains = this.gains(unit);
    const set = { ...gains, [loop]: { ...(gains[loop] ?? { ki: 0, kd: 0 }), kp } };
    this.answer('POST', `/api/${unit}/pidconfig`, set);
  }

  gains(unit: UnitName): GainSet {
    return this.units[unit].saved.at(-1) ?? {};
  }

  log(event: Partial<LogEvent>): void {
    this.#seq += 1;
    const full = { seq: this.#seq, t: 0, at: '2030-01-01T00:00:00.000Z', what: 'mode', ...event };
    this.events.push(full);
    this.say('log', full);
  }

  say(type: string, data: unknown): void {
    for (const hear of this.streams) hear(type, data);
  }

  #unitAnswer(
    unit: UnitName,
    method: string,
    rest: string,
    query: URLSearchParams,
    // biome-ignore lint/suspicious/noExplicitAny: requests of the page under test.
    asked: any,
  ): FakeAnswer {
    const state = this.units[unit];
    switch (`${method} ${rest}`) {
      case 'POST mode/switch':
        this.units[unit] = { ...state, mode: asked.mode, excitation: null };
        return done();
      case 'POST excitation':
        this.units[unit] = { ...state, excitation: asked };
        return done(asked);
      case 'GET pidconfig':
        return done(this.gains(unit));
      case 'POST pidconfig':
        return this.#store(unit, query, asked, 'save');
      case 'POST pidconfig/restore':
        return this.#store(unit, query, state.saved[asked.revision] ?? {}, 'restore');
      case 'POST pidconfig/trial': {
        if (asked.id !== undefined && asked.id !== state.trial?.id) return refused(409, 'trial-ended');
        this.#trials += asked.id === undefined ? 1 : 0;
        const id = asked.id ?? `trial ${this.#trials}`;
        this.units[unit] = { ...state, trial: { id, by: '127.0.0.1', endsAtT: 1e6, gains: asked.gains } };
        return done({ id, gains: asked.gains });
      }
      case 'DELETE pidconfig/trial':
        this.units[unit] = { ...state, trial: undefined };
        return done();
      case 'GET autotune':
        return done({ tune: null });
      default:
        return done(method === 'GET' ? [] : {});
    }
  }

  #store(unit: UnitName, query: URLSearchParams, gains: GainSet, what: string): FakeAnswer {
    const state = this.units[unit];
    const revision = state.saved.length - 1;
    const base = query.get('baseRevision');
    if (base !== null && Number(base) !== revision)
      return refused(409, 'changed-meanwhile', 'Others were saved.', { revision });
    this.units[unit] = {
      ...state,
      saved: [...state.saved, gains],
      savedAt: `2030-01-01T00:00:0${(revision + 1) % 10}.000Z`,
      trial: undefined,
    };
    this.log({
      what,
      unit,
      who: base === null ? 'Bob' : 'op',
      outcome: 'done',
      detail: { after: revision + 1 },
    });
    return done(gains);
  }
}
