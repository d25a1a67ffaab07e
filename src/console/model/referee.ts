import { signal } from '@preact/signals';
import { parsedJson } from '../../core/json.js';
import { type Phase, PLAY } from '../../core/phases.js';
import type { Status } from '../../schemas/status.js';
import type { Ask } from '../daemon/asks.js';
import { type Refusal, UNREACHABLE } from '../daemon/request.js';
import { Action } from './action.js';
import { Renewal } from './own-trial.js';
import { Part } from './whole.js';

interface Interrupted {
  readonly phase: Phase;
  readonly remainingS: number | null;
}

const TTL_MS = 3000;
/** This long after its last accepted beat, a page that beats says that it is silent. Beats come every second. */
const SILENT_MS = 2000;
const OVER: readonly Phase[] = ['none', 'ended'];
/** These phases concern the match that was begun, even if the referee has typed the name of the next one. */
const OF_CURRENT: readonly Phase[] = ['none', 'pause', 'ended'];
/** Only these phases can be set without contact, and take effect however late they arrive. */
const RESTRICTING: readonly Phase[] = ['pause', 'ended'];
/** Any other act does nothing if it arrives later than this. A slow network needs some of this time for both ways. */
const IN_TIME_MS = 2000;
const KEY = 'trunnion.phases';
const DURATIONS = { auto: '30', teleop: '120' };
const LONGEST_S = 86_400;

/**
 * The referee's acts at this page. After the referee has taken the lease here, the page sends beats and
 * controls the match.
 */
export class Referee extends Part {
  readonly action = new Action(this.whole.clock, 'Match');
  /** Page time of the last accepted beat, by this page or by the desk that `look` found. */
  readonly beatMs = signal<number | undefined>(undefined);
  /** The phase that the last pause interrupted, if this page saw both on one stream. */
  readonly interrupted = signal<Interrupted | undefined>(undefined);
  /** Durations as typed, by phase. */
  readonly durations = signal<Readonly<Record<string, string>>>({
    ...DURATIONS,
    ...Object(parsedJson(this.whole.storage.read(KEY))),
  });
  /** This page's name as a desk. Another window of the same referee is another desk. */
  readonly holder = `page-${Math.random().toString(36).slice(2, 6)}`;
  readonly #beats = new Renewal(this.whole.clock);
  /** The highest revision that was sent or seen. */
  #revision = 0;

  /** True if this page sends beats. */
  get isBeating(): boolean {
    return this.#beats.id.value !== undefined;
  }

  /** True if another desk has the lease. */
  get isHeld(): boolean {
    const lease = this.whole.status.value?.match.lease ?? null;
    return lease !== null && !lease.expired && lease.holder !== this.holder;
  }

  /** Asks for the age of another desk's last beat. */
  async look(): Promise<void> {
    if (this.isBeating) return;
    const match = await this.whole.daemon.read<{ readonly beatAgeS?: number | null }>('/api/match');
    const ageS = match?.beatAgeS;
    if (ageS != null && !this.isBeating) this.beatMs.value = this.whole.clock.nowMs() - 1000 * ageS;
  }

  /** True if this page beats, and its beats are not accepted. */
  isSilent(nowMs: number): boolean {
    return this.isBeating && nowMs - (this.beatMs.value ?? 0) > SILENT_MS;
  }

  /** Takes the lease. Without `takeover`, the daemon refuses if another desk has it. */
  async take(takeover = false): Promise<void> {
    const isTaken = await this.action.run(() => this.#beat(takeover));
    const refusal = this.action.refusal.peek();
    if (isTaken) this.#beats.hold(this.holder, () => this.#beat(false), this.#lost);
    else if (refusal !== undefined) this.#lost(refusal);
  }

  /** Ends the beats. A playing robot then stops, unless another desk beats. */
  release(): void {
    this.#beats.drop();
  }

  setDuration(phase: Phase, text: string): void {
    this.durations.value = { ...this.durations.value, [phase]: text };
    this.whole.storage.write(KEY, JSON.stringify(this.durations.value));
  }

  /**
   * Parses the seconds of a phase: `120`, `1,5` or `2:00`. Null if the phase has no time limit. Undefined if the text
   * cannot be parsed.
   */
  durationS(phase: Phase): number | null | undefined {
    const text = String(this.durations.value[phase] ?? '').trim();
    if (!PLAY.includes(phase) || text === '') return null;
    const [, minutes = '0', seconds] = /^(?:(\d+):)?(\d+(?:[.,]\d+)?)$/.exec(text) ?? [];
    const durationS = 60 * Number(minutes) + Number(seconds?.replace(',', '.'));
    return durationS > 0 && durationS <= LONGEST_S ? durationS : undefined;
  }

  /** Why this phase of the match `id` cannot be set now, in a few words. Empty if it can. */
  whyNot(id: string, phase: Phase): string {
    const match = this.whole.status.value?.match;
    const isNext = this.#idFor(id, phase) !== match?.id;
    if (id === '') return 'name the match';
    const isSure = this.whole.fresh.value || !RESTRICTING.includes(phase);
    if (match?.phase === phase && !isNext && isSure) return 'now';
    if (!RESTRICTING.includes(phase) && !this.whole.fresh.value) return this.whyNoContact;
    if (isNext && PLAY.includes(phase) && !OVER.includes(match?.phase ?? 'none')) return 'press pre first';
    if (this.durationS(phase) === undefined) return 'check the time';
    return PLAY.includes(phase) ? this.whyNoPlay : '';
  }

  /** Why the robot cannot be let play now, in a few words. Empty if it can. */
  get whyNoPlay(): string {
    return this.whyNoContact || (this.isBeating ? '' : 'needs the lease');
  }

  /** A press without contact would act later, when contact returns. */
  get whyNoContact(): string {
    return this.whole.fresh.value ? '' : 'no contact';
  }

  /** Sets a phase with the duration that was typed here. Does nothing if the duration cannot be parsed. */
  async begin(id: string, phase: Phase): Promise<void> {
    const durationS = this.durationS(phase);
    if (durationS !== undefined) await this.set(this.#idFor(id, phase), phase, durationS);
  }

  set(id: string, phase: Phase, remainingS: number | null): Promise<boolean> {
    this.#revision = Math.max(this.#revision, this.whole.status.peek()?.match.revision ?? 0) + 1;
    const notAfterT = RESTRICTING.includes(phase) ? undefined : this.#notAfterT;
    const body = { id, revision: this.#revision, phase, remainingS, notAfterT };
    const rule = PLAY.includes(phase) ? 'moves' : 'calms';
    return this.#ask({ path: '/api/match', body, rule });
  }

  lock(reason: string): Promise<boolean> {
    return this.#ask({ path: '/api/match/lock', body: { reason }, rule: 'calms', ends: '/api/match/unlock' });
  }

  /** Lifts only the lock that the referee saw. */
  unlock(lock: string): Promise<boolean> {
    const body = { lock, notAfterT: this.#notAfterT };
    return this.#ask({ path: '/api/match/unlock', body, rule: 'moves' });
  }

  /**
   * Remembers the phase that a pause interrupts, if one stream showed both. `t` is the daemon's time. `isFirst`: `after` is
   * the first status of its stream, so the page does not know what came before.
   */
  heard({ match: before }: Status, { match: after }: Status, t: number, isFirst: boolean): void {
    const isSameMatch = after.id === before.id;
    if (isSameMatch && after.phase === before.phase && !(isFirst && after.revision !== before.revision))
      return;
    const { phase, endsAtT } = before;
    const isInterrupted = isSameMatch && !isFirst && after.phase === 'pause' && PLAY.includes(phase);
    const remainingS = endsAtT === null ? null : Math.max(0, endsAtT - t);
    this.interrupted.value = isInterrupted ? { phase, remainingS } : undefined;
  }

  get #notAfterT(): number | undefined {
    const { clock, robotTime } = this.whole;
    return robotTime.tAt(clock.nowMs() + IN_TIME_MS);
  }

  #idFor(typed: string, phase: Phase): string {
    const match = this.whole.status.value?.match;
    const isBegun = match?.id != null && !OVER.includes(match.phase);
    return isBegun && OF_CURRENT.includes(phase) ? (match.id ?? typed) : typed;
  }

  /** The page says by itself that another desk has the lease, and offers to take it over. */
  readonly #lost = (refusal: Refusal): void => {
    if (refusal.code === 'lease-held') this.action.clear();
    else this.action.refuse(refusal);
  };

  #ask(ask: Ask): Promise<boolean> {
    return this.action.run(() => this.whole.daemon.press(ask));
  }

  async #beat(takeover: boolean) {
    const { daemon, clock, isHidden } = this.whole;
    // A referee who does not see the robot must not keep it in play.
    if (isHidden) return { refusal: UNREACHABLE };
    const body = { holder: this.holder, ttlMs: TTL_MS, takeover };
    const outcome = await daemon.post('/api/match/lease', body);
    if ('body' in outcome) this.beatMs.value = clock.nowMs();
    return outcome;
  }
}
