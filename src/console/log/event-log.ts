import { computed, signal } from '@preact/signals';
import type { LogEvent } from '../../core/log-event.js';
import type { UnitName } from '../../core/units.js';
import type { Daemon } from '../daemon/daemon.js';

const KEPT = 500;
const KEY = 'trunnion.noted';
const NOTED_KEPT = 100;

type Restart = LogEvent & { readonly unit: UnitName };

/** The daemon's log of events as this page has it, and which restarts somebody took note of. */
export class EventLog {
  /** Oldest first. */
  readonly events = signal<readonly LogEvent[]>([]);
  /** How many are not kept any more. */
  readonly dropped = signal(0);
  readonly #noted = signal<readonly string[]>(readNoted());
  /** The newest restart of each controller that nobody took note of. */
  readonly restarts = computed(() => {
    const newest = new Map<UnitName, Restart>();
    for (const event of this.events.value) {
      const { what, unit } = event;
      if (what === 'reset' && unit !== undefined) newest.set(unit, { ...event, unit });
    }
    return [...newest.values()].filter(event => !this.#noted.value.includes(nameOf(event)));
  });
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
  }

  take(event: LogEvent): void {
    const others = this.events.value.filter(({ seq }) => seq < event.seq);
    this.events.value = [...others, event].slice(-KEPT);
  }

  note(event: LogEvent): void {
    this.#noted.value = [...this.#noted.value, nameOf(event)].slice(-NOTED_KEPT);
    try {
      localStorage.setItem(KEY, JSON.stringify(this.#noted.value));
    } catch {
      // A browser that keeps nothing asks again after a reload.
    }
  }
}

/** Numbers may begin anew with the daemon; number and time together are one event's alone. */
const nameOf = ({ seq, at }: LogEvent) => `${seq} ${at}`;

function readNoted(): string[] {
  try {
    const noted: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(noted) ? noted.map(String) : [];
  } catch {
    return [];
  }
}
