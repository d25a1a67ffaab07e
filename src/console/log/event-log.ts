import { computed, signal } from '@preact/signals';
import type { LogEvent } from '../../core/log-event.js';
import type { UnitName } from '../../core/units.js';
import type { Daemon } from '../daemon/daemon.js';

const KEPT = 500;
const KEY = 'trunnion.noted';
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
  readonly #newest = signal<readonly Restart[]>(read(RESTARTS_KEY).filter(isRestart));
  /** Those that nobody took note of. */
  readonly restarts = computed(() =>
    this.#newest.value.filter(event => !this.#noted.value.includes(nameOf(event))),
  );
  readonly #daemon: Daemon;

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
    window.addEventListener('storage', event => {
      if (event.key === KEY) this.#noted.value = readNoted();
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
    this.#keepRestarts(events);
  }

  take(event: LogEvent): void {
    const others = this.events.value.filter(({ seq }) => seq < event.seq);
    this.events.value = [...others, event].slice(-KEPT);
    this.#keepRestarts([event]);
  }

  note(event: LogEvent): void {
    this.#noted.value = [...this.#noted.value, nameOf(event)].slice(-NOTED_KEPT);
    write(KEY, this.#noted.value);
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
  return (
    typeof event === 'object' &&
    event !== null &&
    'unit' in event &&
    'what' in event &&
    event.what === 'reset'
  );
}

/** Numbers may begin anew with the daemon; number and time together are one event's alone. */
const nameOf = ({ seq, at }: LogEvent) => `${seq} ${at}`;

function readNoted(): readonly string[] {
  return read(KEY).map(String);
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
