import { signal } from '@preact/signals';
import type { Timer } from '../../core/clock.js';
import type { GainSet, Mode, UnitName } from '../../core/units.js';
import type { Comparison, HistoryLine } from '../../schemas/history.js';
import type { LogPage } from '../../schemas/log.js';
import type { KeptProfile, MeasuredProfile, Profile } from '../../schemas/profile.js';
import type { TrialStatus } from '../../schemas/status.js';
import type { RememberedStep, StepSummary } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';
import { type Ask, type AskEvent, Asks, deadlineMs, type Effect, type Press, STOP } from './asks.js';
import { createSend, type Outcome, SESSION, type Send, type SendHandlers } from './request.js';
import type { Surroundings } from './surroundings.js';

/** Who is at this page and what they may do, as the daemon says. */
export interface Session {
  readonly access: 'open' | 'closed' | 'unavailable';
  readonly name: string | null;
  readonly role: string | null;
  readonly rights: readonly string[];
}

export interface ProfileToKeep extends Partial<Pick<Profile, 'note' | 'starred' | 'gains'>> {
  readonly name: string;
  readonly replace?: boolean;
  readonly dryRun?: boolean;
}

type TuneBody = { readonly leaseS: number } & (
  | { readonly id: string }
  | { readonly loops: readonly string[]; readonly style: Tune['style'] }
);

interface DaemonHandlers extends SendHandlers {
  /** The caller's rights; undefined as long as they are unknown. */
  readonly rights: () => string | undefined;
}

const LASER = '/api/laser';
/** How often asks that wait are looked after. */
const TICK_MS = 100;

/** All that the page asks of the daemon. */
export class DaemonClient {
  readonly #clock: Surroundings['clock'];
  readonly #send: Send;
  readonly #rights: DaemonHandlers['rights'];
  readonly #asks = new Asks();
  /** Changes with each step of the asks. */
  readonly #stepped = signal(0);
  readonly #requests = new Map<number, AbortController>();
  /** By the number of the press. */
  readonly #callers = new Map<number, Caller>();
  #tick: Timer | undefined;

  constructor(surroundings: Surroundings, handlers: DaemonHandlers) {
    this.#clock = surroundings.clock;
    this.#send = createSend(surroundings, handlers);
    this.#rights = handlers.rights;
  }

  /** The newest STOP that was pressed here, until it need not be told any more. */
  get stopPress(): Press | undefined {
    return this.#pressOf(STOP);
  }

  /** The newest Off that was pressed here, unless an On came after it. */
  get offPress(): Press | undefined {
    return this.#pressOf(LASER);
  }

  /** The number of presses so far. An ask that has to wait passes it on as `since`, so that a STOP drops it. */
  get presses(): number {
    return this.#asks.presses;
  }

  /** Something came from the daemon, so a STOP or an Off without an answer is sent again at once. */
  heard = () => this.#step({ kind: 'time', ...this.#now(), isHeard: true });
  forgetStop = () => this.#step({ kind: 'forget', path: STOP });
  forgetOff = () => this.#step({ kind: 'forget', path: LASER });

  stop = () => this.#ask({ path: STOP, rule: 'insists' });
  resume = () => this.#ask({ path: '/api/resume', rule: 'calms', ends: STOP });
  light = () => this.#ask({ path: LASER, body: { action: 'on' }, rule: 'moves' });
  darken = () => this.#ask({ path: LASER, body: { action: 'off' }, rule: 'insists', expires: true });
  switchMode = (unit: UnitName, mode: Mode) =>
    this.#ask({ path: `/api/${unit}/mode/switch`, body: { mode }, rule: calmsIf(mode === 'manual') });
  excite = (unit: UnitName, body: { loop: string; amplitude: number | null; periodS: number | null }) =>
    this.#ask({ path: `/api/${unit}/excitation`, body, rule: calmsIf(body.amplitude === 0) });

  /** Begins a trial, or changes or renews the one with this id. */
  tryGains = (
    unit: UnitName,
    body: { gains: GainSet; leaseS: number; id: string | undefined },
    options: Pick<Ask, 'renews' | 'since'>,
  ) => this.#ask<TrialStatus>({ path: `/api/${unit}/pidconfig/trial`, body, rule: 'moves', ...options });
  endTrial = (unit: UnitName) => this.#send('DELETE', `/api/${unit}/pidconfig/trial`);

  /** Begins a tuning, or renews the one with this id. */
  tune = (unit: UnitName, body: TuneBody) =>
    this.#ask<Tune>({ path: `/api/${unit}/autotune`, body, rule: 'moves', renews: 'id' in body });
  endTune = (unit: UnitName) => this.#ask({ path: `/api/${unit}/autotune`, method: 'DELETE', rule: 'calms' });
  lastTune = (unit: UnitName) => this.#get<{ readonly tune: Tune | null }>(`/api/${unit}/autotune`);

  gains = (unit: UnitName) => this.#get<GainSet>(`/api/${unit}/pidconfig`);
  save = (unit: UnitName, gains: GainSet, base: number) =>
    this.#post<GainSet>(`/api/${unit}/pidconfig?baseRevision=${base}`, gains);
  restore = (unit: UnitName, revision: number, base: number) =>
    this.#post<GainSet>(`/api/${unit}/pidconfig/restore?baseRevision=${base}`, { revision });
  history = (unit: UnitName, limit: number) =>
    this.#get<readonly HistoryLine[]>(`/api/${unit}/pidconfig/history?limit=${limit}`);

  steps = (unit: UnitName, loop: string) =>
    this.#get<readonly StepSummary[]>(`/api/${unit}/steps?loop=${loop}`);
  /** The best so far: one, or none. */
  bestSteps = (unit: UnitName, loop: string) =>
    this.#get<readonly StepSummary[]>(`/api/${unit}/steps/best?loop=${loop}`);
  capturedStep = (unit: UnitName, loop: string, number: number) =>
    this.#get<RememberedStep>(`/api/${unit}/step?loop=${loop}&number=${number}`);

  profiles = (unit: UnitName) => this.#get<readonly MeasuredProfile[]>(`/api/${unit}/profiles`);
  allProfiles = () => this.#get<unknown>('/api/profiles');
  keepProfile = (unit: UnitName, profile: ProfileToKeep) =>
    this.#post<KeptProfile>(`/api/${unit}/profiles`, profile);
  loadProfile = (unit: UnitName, name: string, base: number) =>
    this.#post<GainSet>(`/api/${unit}/profiles/load?baseRevision=${base}`, { name });
  starProfile = (unit: UnitName, name: string, starred: boolean) =>
    this.#post<unknown>(`/api/${unit}/profiles/star`, { name, starred });
  removeProfile = (unit: UnitName, name: string) =>
    this.#post<unknown>(`/api/${unit}/profiles/remove`, { name });
  compare = (unit: UnitName, a: string, b: string) =>
    this.#get<Comparison>(`/api/${unit}/compare?${new URLSearchParams({ a, b })}`);

  session = () => this.#get<Session>(SESSION);
  enter = (token: string) => this.#post<Session>(SESSION, { token });
  leave = () => this.#send<Session>('DELETE', SESSION);
  ping = () => this.#get('/healthz');
  log = (after: number) => this.#get<LogPage>(`/api/log?after=${after}`);
  /** Plays a fault on the simulator. */
  fault = (target: string, fault: string) => this.#post('/sim/faults', { target, fault });
  /** The state of the simulated hardware. */
  truth = () => this.#get<Readonly<Record<string, unknown>>>('/sim/state');

  #get<T>(path: string) {
    return this.#send<T>('GET', path);
  }

  #post<T>(path: string, body: unknown) {
    return this.#send<T>('POST', path, body);
  }

  #pressOf(path: string): Press | undefined {
    this.#stepped.value;
    return this.#asks.insisting(path);
  }

  #ask<T>(ask: Ask): Promise<Outcome<T>> {
    return new Promise(resolve => {
      const settle = (outcome: Outcome<T>) => resolve(outcome);
      this.#callers.set(this.#asks.presses + 1, { settle });
      this.#step({ kind: 'press', ask, ...this.#now() });
    });
  }

  #step(event: AskEvent): void {
    const effects = this.#asks.step(event);
    for (const effect of effects) this.#carryOut(effect);
    if (event.kind !== 'time' || effects.length > 0) this.#stepped.value = this.#stepped.peek() + 1;
    if (this.#asks.isWaiting) this.#tick ??= this.#clock.after(TICK_MS, () => this.#pass());
  }

  #pass(): void {
    this.#tick = undefined;
    this.#step({ kind: 'time', ...this.#now(), isHeard: false });
  }

  #carryOut(effect: Effect): void {
    switch (effect.kind) {
      case 'send':
        void this.#sendAsk(effect.request, effect.press);
        return;
      case 'take back':
        this.#requests.get(effect.request)?.abort();
        return;
      case 'settle':
        this.#callers.get(effect.press.number)?.settle(effect.outcome);
        this.#callers.delete(effect.press.number);
    }
  }

  async #sendAsk(request: number, press: Press): Promise<void> {
    const { path, method = 'POST', body } = press.ask;
    const ending = new AbortController();
    this.#requests.set(request, ending);
    const limits = { signal: ending.signal, deadlineMs: deadlineMs(press) };
    const outcome = await this.#send(method, path, body, limits);
    this.#requests.delete(request);
    this.#step({ kind: 'answer', request, outcome });
  }

  #now() {
    return {
      nowMs: this.#clock.nowMs(),
      wallMs: this.#clock.wallTime().getTime(),
      rights: this.#rights(),
    };
  }
}

const calmsIf = (calms: boolean) => (calms ? 'calms' : 'moves');

/** The caller of one ask. It only gets answers to that ask, so their type is known. */
interface Caller {
  settle(outcome: Outcome<unknown>): void;
}
