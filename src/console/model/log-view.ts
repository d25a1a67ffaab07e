import { computed, signal } from '@preact/signals';
import { isObject } from '../../core/json.js';
import { UNIT_LIST, type UnitName, unitNamed } from '../../core/units.js';
import type { LogEvent, LogPage } from '../../schemas/log.js';
import { readList } from '../daemon/surroundings.js';
import { Part, type Whole } from './whole.js';

const MOST_EVENTS = 500;
const SEEN_KEY = 'trunnion.noted';
const RESTARTS_KEY = 'trunnion.restarts';
const MOST_SEEN = 100;

/** A restart of a controller, or of the daemon if there is no unit. */
type Restart = LogEvent & { readonly unit?: UnitName };

/**
 * The part of the daemon's event log that this page has, and the restarts of controllers and of the daemon that a
 * person has to confirm.
 */
export class LogView extends Part {
  /** Oldest first. */
  readonly events = signal<readonly LogEvent[]>([]);
  /** The number of events that the daemon no longer has. */
  readonly dropped = signal(0);
  /** The id of the daemon's run. */
  #run: string | undefined;
  readonly #seen = signal<readonly string[]>([]);
  /**
   * The newest restart of each controller and of the daemon, confirmed or not. The page keeps these events, because a restarted daemon
   * forgets them.
   */
  readonly #newest = signal<readonly Restart[]>([]);
  /** The restarts in `#newest` that nobody has confirmed. */
  readonly restarts = computed(() => this.#newest.value.filter(event => !this.isSeen(event)));

  constructor(whole: Whole) {
    super(whole);
    const { storage } = whole;
    storage.follow(SEEN_KEY, () => {
      this.#seen.value = readList(storage, SEEN_KEY).map(String);
    });
    storage.follow(RESTARTS_KEY, () => {
      this.#newest.value = readList(storage, RESTARTS_KEY).filter(isRestart);
    });
  }

  /**
   * Fetches the events that the stream did not send. Resolves with the start of the daemon if it has restarted since
   * the last answer, and with undefined if no answer came.
   */
  async load(): Promise<{ readonly start: LogEvent | undefined } | undefined> {
    const before = this.events.peek();
    const page = await this.whole.daemon.read<LogPage>('/api/log?after=0');
    if (page === undefined) return undefined;
    const { boot, events, dropped } = page;
    const isOther = this.#run !== undefined && this.#run !== boot;
    this.#run = boot;
    const last = events.at(-1)?.seq ?? 0;
    const cameLive = this.events.peek().filter(event => event.seq > last && !before.includes(event));
    this.dropped.value = dropped;
    this.events.value = [...events, ...cameLive].slice(-MOST_EVENTS);
    this.storeRestarts(this.events.peek());
    return { start: isOther ? events.find(({ what }) => what === 'start') : undefined };
  }

  take(event: LogEvent): void {
    const others = this.events.value.filter(({ seq }) => seq < event.seq);
    this.events.value = [...others, event].slice(-MOST_EVENTS);
    this.storeRestarts([event]);
  }

  /** True if a person at this browser has dismissed the line about this event. */
  isSeen(event: LogEvent): boolean {
    return this.#seen.value.includes(nameOf(event));
  }

  /** The event of the last time that the laser went dark without a request. */
  get lastDark(): LogEvent | undefined {
    return this.events.value.findLast(({ what, detail }) => what === 'laser' && detail?.reason !== undefined);
  }

  /** The caller of the tuning or phase that caused this event. */
  causerOf({ t }: LogEvent): string | undefined {
    const isNear = (one: LogEvent) => Math.abs(one.t - t) < TOGETHER_S;
    const isCause = ({ what, who }: LogEvent) => who !== undefined && ['tune', 'phase'].includes(what);
    return this.events.value.findLast(one => isNear(one) && isCause(one))?.who;
  }

  /** The newest event about what the robot did to this unit. */
  lastEvent(what: string, unit: UnitName): LogEvent | undefined {
    return this.events.value.findLast(one => one.what === what && one.unit === unit && one.who === undefined);
  }

  /** Hides the line about this event, in every window. */
  confirm(event: LogEvent): void {
    this.#seen.value = [...this.#seen.value, nameOf(event)].slice(-MOST_SEEN);
    this.whole.storage.write(SEEN_KEY, JSON.stringify(this.#seen.value));
  }

  /** The caller who saved this revision. Undefined if the log no longer says. */
  saverOf(unit: UnitName, revision: number): string | undefined {
    const isSave = (act: LogEvent) =>
      act.outcome === 'done' && act.unit === unit && act.detail?.after === revision;
    return actsOf(this.events.value).find(isSave)?.who;
  }

  /** The reason and time of the last stop. Undefined if the log does not say. */
  get lastStop(): { readonly at: string; readonly why: string } | undefined {
    const events = this.events.value;
    const index = events.findLastIndex(({ what, who }) => what === 'stop' && who === undefined);
    const stop = events[index];
    if (stop === undefined) return undefined;
    const caller = events.slice(index).find(({ what, who }) => what === 'stop' && who !== undefined)?.who;
    const why = String(stop.detail?.why ?? 'asked');
    return { at: stop.at, why: why !== 'asked' ? why : caller === undefined ? '' : `by ${caller}` };
  }

  /** Shows the restarts among these events until a person confirms them. The start of a daemon needs `changes` in its detail. */
  storeRestarts(events: readonly LogEvent[]): void {
    const restarts = events.filter(isRestart);
    if (restarts.length === 0) return;
    const all = [...this.#newest.peek(), ...restarts];
    this.#newest.value = [...new Map(all.map(restart => [restart.unit, restart])).values()];
    this.whole.storage.write(RESTARTS_KEY, JSON.stringify(this.#newest.value));
  }
}

function isRestart(event: unknown): event is Restart {
  if (!isObject(event)) return false;
  if (event.what === 'start') return isObject(event.detail) && 'changes' in event.detail;
  return event.what === 'reset' && UNIT_LIST.some(({ name }) => name === event.unit);
}

/** A restarted daemon reuses the numbers, so the key contains the time. */
const nameOf = ({ seq, at }: LogEvent) => `${seq} ${at}`;

/** The names of the robot's own events, by the name of the request that causes them. Equal names are left out. */
const EFFECTS: Readonly<Record<string, string>> = {
  excite: 'excitation',
  restore: 'save',
  'load-profile': 'save',
  'end-trial': 'trial-ended',
  'end-tune': 'tune-end',
  lock: 'stop',
};
/** An effect is recorded at most this long before its request is answered. */
const TOGETHER_S = 2;

/**
 * Joins each request with the change that it caused, so that each act is one event. A change that belongs to no
 * request was made by the robot itself.
 */
export function actsOf(events: readonly LogEvent[]): LogEvent[] {
  const effects = new Set<LogEvent>();
  const acts = events.map((request, index): LogEvent => {
    if (request.who === undefined || request.outcome !== 'done') return request;
    const what = EFFECTS[request.what] ?? request.what;
    const isEffect = (one: LogEvent) =>
      one.who === undefined && one.what === what && one.unit === request.unit && !effects.has(one);
    const before = events.slice(0, index).filter(one => request.t - one.t < TOGETHER_S);
    const effect = before.findLast(isEffect);
    if (effect === undefined) return request;
    effects.add(effect);
    return { ...request, detail: { ...effect.detail, ...request.detail } };
  });
  return acts.filter(act => !effects.has(act));
}

/** One sentence, such as `Gimbal mode: manual → auto, by Bob.` */
export function actText({ what, unit, who, outcome, detail = {} }: LogEvent): string {
  // The latest time of a request is for the daemon only.
  const { before, after, notAfterT: _, ...others } = detail;
  const change = after === undefined ? [] : [`${before ?? '–'} → ${after}`];
  const values = Object.entries(others)
    .filter(([name, value]) => value !== after && !(name === 'why' && value === 'asked'))
    .map(([name, value]) => {
      if (typeof value === 'boolean') return `${value ? '' : 'not '}${wordsOf(name)}`;
      return name === 'why' || name === 'reason' ? String(value) : `${wordsOf(name)} ${value}`;
    });
  const parts = [...change, ...values].join(', ');
  const about = `${unit === undefined ? '' : `${titleOf(unit)} `}${wordsOf(what)}`;
  const by = who === undefined ? '' : `, by ${who}`;
  const refusal = outcome === undefined || outcome === 'done' ? '' : `: refused (${wordsOf(outcome)})`;
  return `${about.slice(0, 1).toUpperCase()}${about.slice(1)}${parts && `: ${parts}`}${by}${refusal}.`;
}

/** Names in the API that have other names on the page. */
const WORDS: Readonly<Record<string, string>> = {
  excite: 'test steps',
  excitation: 'test steps',
  nack: 'no answer',
  reset: 'restart',
};

const wordsOf = (name: string) =>
  WORDS[name] ?? name.replace(/[A-Z]/g, letter => ` ${letter.toLowerCase()}`).replaceAll('-', ' ');

/** A daemon of another version may have other units. */
const titleOf = (unit: NonNullable<LogEvent['unit']>): string => unitNamed(unit)?.title ?? unit;
