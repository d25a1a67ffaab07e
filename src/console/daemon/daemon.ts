import { signal } from '@preact/signals';
import type { Timer } from '../../core/clock.js';
import type { Excitation, GainSet, Mode, UnitName } from '../../core/units.js';
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

interface DaemonHandlers extends SendHandlers {
  /** The rights of whoever is here; undefined as long as they are unknown. */
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

  /** The number of presses so far: what waits for its turn passes it on, to be dropped if a STOP came meanwhile. */
  get presses(): number {
    return this.#asks.presses;
  }

  /** Something came from the daemon, so a STOP or an Off without an answer is sent again at once. */
  heard(): void {
    this.#step({ kind: 'time', ...this.#now(), isHeard: true });
  }

  forgetStop(): void {
    this.#step({ kind: 'forget', path: STOP });
  }

  forgetOff(): void {
    this.#step({ kind: 'forget', path: LASER });
  }

  stop() {
    return this.#ask({ path: STOP, rule: 'insists' });
  }

  darken() {
    return this.#ask({ path: LASER, body: { action: 'off' }, rule: 'insists', expires: true });
  }

  light() {
    return this.#ask({ path: LASER, body: { action: 'on' }, rule: 'moves' });
  }

  resume() {
    return this.#ask({ path: '/api/resume', rule: 'calms', ends: STOP });
  }

  switchMode(unit: UnitName, mode: Mode) {
    return this.#ask({
      path: `/api/${unit}/mode/switch`,
      body: { mode },
      rule: mode === 'manual' ? 'calms' : 'moves',
    });
  }

  excite(unit: UnitName, wanted: { loop: string; amplitude: number | null; periodS: number | null }) {
    return this.#ask<Excitation>({
      path: `/api/${unit}/excitation`,
      body: wanted,
      rule: wanted.amplitude === 0 ? 'calms' : 'moves',
    });
  }

  /** Begins a trial. With an id it changes that trial, or only renews it. */
  tryGains(
    unit: UnitName,
    trial: { gains: GainSet; leaseS: number; id?: string },
    options: Pick<Ask, 'renews' | 'since'>,
  ) {
    const path = `/api/${unit}/pidconfig/trial`;
    return this.#ask<TrialStatus>({ path, body: trial, rule: 'moves', ...options });
  }

  endTrial(unit: UnitName) {
    return this.#send('DELETE', `/api/${unit}/pidconfig/trial`);
  }

  /** Begins a tuning. With an id it renews that one. */
  tune(unit: UnitName, wanted: { loop: string; style: Tune['style']; leaseS: number; id?: string }) {
    const path = `/api/${unit}/autotune`;
    return this.#ask<Tune>({ path, body: wanted, rule: 'moves', renews: wanted.id !== undefined });
  }

  endTune(unit: UnitName) {
    return this.#ask({ path: `/api/${unit}/autotune`, method: 'DELETE', rule: 'calms' });
  }

  lastTune(unit: UnitName) {
    return this.#send<{ readonly tune: Tune | null }>('GET', `/api/${unit}/autotune`);
  }

  gains(unit: UnitName) {
    return this.#send<GainSet>('GET', `/api/${unit}/pidconfig`);
  }

  save(unit: UnitName, gains: GainSet, baseRevision: number) {
    return this.#send<GainSet>('POST', `/api/${unit}/pidconfig?baseRevision=${baseRevision}`, gains);
  }

  restore(unit: UnitName, revision: number, baseRevision: number) {
    const path = `/api/${unit}/pidconfig/restore?baseRevision=${baseRevision}`;
    return this.#send<GainSet>('POST', path, { revision });
  }

  history(unit: UnitName, limit: number) {
    return this.#send<readonly HistoryLine[]>('GET', `/api/${unit}/pidconfig/history?limit=${limit}`);
  }

  steps(unit: UnitName, loop: string) {
    return this.#send<readonly StepSummary[]>('GET', `/api/${unit}/steps?loop=${loop}`);
  }

  /** The best so far: one, or none. */
  bestSteps(unit: UnitName, loop: string) {
    return this.#send<readonly StepSummary[]>('GET', `/api/${unit}/steps/best?loop=${loop}`);
  }

  capturedStep(unit: UnitName, loop: string, number: number) {
    return this.#send<RememberedStep>('GET', `/api/${unit}/step?loop=${loop}&number=${number}`);
  }

  profiles(unit: UnitName) {
    return this.#send<readonly MeasuredProfile[]>('GET', `/api/${unit}/profiles`);
  }

  allProfiles() {
    return this.#send<unknown>('GET', '/api/profiles');
  }

  keepProfile(unit: UnitName, profile: ProfileToKeep) {
    return this.#send<KeptProfile>('POST', `/api/${unit}/profiles`, profile);
  }

  loadProfile(unit: UnitName, name: string, baseRevision: number) {
    return this.#send<GainSet>('POST', `/api/${unit}/profiles/load?baseRevision=${baseRevision}`, { name });
  }

  starProfile(unit: UnitName, name: string, starred: boolean) {
    return this.#send<Profile>('POST', `/api/${unit}/profiles/star`, { name, starred });
  }

  removeProfile(unit: UnitName, name: string) {
    return this.#send<Profile>('POST', `/api/${unit}/profiles/remove`, { name });
  }

  compare(unit: UnitName, a: string, b: string) {
    const query = new URLSearchParams({ a, b });
    return this.#send<Comparison>('GET', `/api/${unit}/compare?${query}`);
  }

  session() {
    return this.#send<Session>('GET', SESSION);
  }

  enter(token: string) {
    return this.#send<Session>('POST', SESSION, { token });
  }

  leave() {
    return this.#send<Session>('DELETE', SESSION);
  }

  ping() {
    return this.#send('GET', '/healthz');
  }

  log(after: number) {
    return this.#send<LogPage>('GET', `/api/log?after=${after}`);
  }

  /** Plays a fault on the simulator. */
  fault(target: string, fault: string) {
    return this.#send('POST', '/sim/faults', { target, fault });
  }

  /** The state of the simulated hardware. */
  truth() {
    return this.#send<Readonly<Record<string, unknown>>>('GET', '/sim/state');
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

/** Whoever made an ask. Only its own answers come here, so that their type is known. */
interface Caller {
  settle(outcome: Outcome<unknown>): void;
}
