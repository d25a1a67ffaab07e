import { computed, signal } from '@preact/signals';
import { isObject } from '../../core/json.js';
import { UNIT_LIST, type UnitName } from '../../core/units.js';
import type { LogEvent } from '../../schemas/log.js';
import type { Daemon } from '../daemon/daemon.js';

const KEPT = 500;
const NOTED_KEY = 'trunnion.noted';
const RESTARTS_KEY = 'trunnion.restarts';
const NOTED_KEPT = 100;

type Restart = LogEvent & { readonly unit: UnitName };

/** The daemon's log of events as this page has it, and which restarts somebody took note of. */
export class EventLog {
  /** Oldest first. */
  readonly events = signal<readonly LogEvent[]>([]);
  /** How many are not kept any more. */
  readonly dropped = signal(0);
  readonly #noted = signal(readNoted());
  /** The newest restart of each controller; kept here, because the daemon forgets them when it starts anew. */
  readonly #newest = signal(readRestarts());
  /** Those that nobody took note of. */
  readonly restarts = computed(() =>
    this.#newest.value.filter(event => !this.#noted.value.includes(nameOf(event))),
  );
  readonly #daemon: Daemon;

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
    window.addEventListener('storage', event => {
      if (event.key === NOTED_KEY) this.#noted.value = readNoted();
      if (event.key === RESTARTS_KEY) this.#newest.value = readRestarts();
    });
  }

  /** What happened while nobody listened. */
  async load(): Promise<void> {
    const before = this.events.peek();
    const outcome = await this.#daemon.log(0);
    if ('refusal' in outcome) return;
    const { events, dropped } = outcome.body;
    const last = events.at(-1)?.seq ?? 0;
    // What came live after the daemon had written its answer.
    const since = this.events.peek().filter(event => event.seq > last && !before.includes(event));
    this.dropped.value = dropped;
    this.events.value = [...events, ...since].slice(-KEPT);
    this.#keepRestarts(this.events.peek());
  }

  take(event: LogEvent): void {
    const others = this.events.value.filter(({ seq }) => seq < event.seq);
    this.events.value = [...others, event].slice(-KEPT);
    this.#keepRestarts([event]);
  }

  note(event: LogEvent): void {
    this.#noted.value = [...this.#noted.value, nameOf(event)].slice(-NOTED_KEPT);
    write(NOTED_KEY, this.#noted.value);
  }

  #keepRestarts(events: readonly LogEvent[]): void {
    const restarts = events.filter(isRestart);
    if (restarts.length === 0) return;
    const all = [...this.#newest.peek(), ...restarts];
    this.#newest.value = [...new Map(all.map(restart => [restart.unit, restart])).values()];
    write(RESTARTS_KEY, this.#newest.value);
  }
}

function isRestart(event: unknown): event is Restart {
  return isObject(event) && event.what === 'reset' && UNIT_LIST.some(({ name }) => name === event.unit);
}

/** Numbers may begin anew with the daemon; number and time together are one event's alone. */
const nameOf = ({ seq, at }: LogEvent) => `${seq} ${at}`;

function readNoted(): readonly string[] {
  return read(NOTED_KEY).map(String);
}

function readRestarts(): readonly Restart[] {
  return read(RESTARTS_KEY).filter(isRestart);
}

function read(key: string): readonly unknown[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(key) ?? '[]');
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

function write(key: string, kept: readonly unknown[]): void {
  try {
    localStorage.setItem(key, JSON.stringify(kept));
  } catch {
    // A browser that keeps nothing asks again after a reload.
  }
}
