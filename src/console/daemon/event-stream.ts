import { signal } from '@preact/signals';
import { every } from '../../core/clock.js';
import type { LogEvent } from '../../schemas/log.js';
import type { Status } from '../../schemas/status.js';
import type { Step } from '../../schemas/step.js';
import type { Telemetry } from '../../schemas/telemetry.js';
import type { Tune } from '../../schemas/tune.js';
import { StreamRoom } from './stream-room.js';
import type { ServerEvents, Surroundings } from './surroundings.js';

interface StreamHandlers {
  readonly onOpen: () => void;
  /**
   * Called when the stream is lost: refused by the daemon (`isRefused`), or silent for longer than DEAD_MS.
   */
  readonly onLost: (isRefused: boolean) => void;
  readonly onStatus: (status: Status) => void;
  readonly onTelemetry: (sample: Telemetry) => void;
  readonly onStep: (step: Step) => void;
  readonly onTune: (tune: Tune) => void;
  readonly onLog: (event: LogEvent) => void;
}

/** Data older than this is stale. The promised limit is one second, but timers of a busy browser are late. */
const STALE_MS = 750;
/** If a stream is silent for longer, the page closes it and opens another. */
const DEAD_MS = 4000;
const REOPEN_MS = 500;
const GIVEN_WAY_MS = 1500;
const CHECK_MS = 50;

/** The event stream. It is open while the page is visible, unless newer windows need the connection. */
export class EventStream {
  /** Whether the latest data is younger than STALE_MS. */
  readonly fresh = signal(false);
  /** True while newer windows use the connections. A press or a key wakes this window. */
  readonly resting = signal(false);
  readonly room: StreamRoom;
  readonly #surroundings: Surroundings;
  readonly #handlers: StreamHandlers;
  #hidden = false;
  #stream: ServerEvents | undefined;
  #reopenAtMs = 0;
  /** Page time at which the latest data was true. */
  #heardMs = Number.NEGATIVE_INFINITY;

  constructor(surroundings: Surroundings, handlers: StreamHandlers) {
    this.#surroundings = surroundings;
    this.#handlers = handlers;
    this.room = new StreamRoom({
      id: String(Math.random()),
      tell: surroundings.tellWindows,
      onCrowded: () => this.rest(true),
      onGiveWay: () => this.#close(GIVEN_WAY_MS),
    });
  }

  /** Page time at which the latest data was true. */
  get heardMs(): number {
    return this.#heardMs;
  }

  get isHidden(): boolean {
    return this.#hidden;
  }

  start(): void {
    every(this.#surroundings.clock, CHECK_MS, () => this.#check());
    this.#check();
  }

  /** Call this when the page becomes hidden or visible, or is about to be closed. */
  setHidden(hidden: boolean): void {
    this.#hidden = hidden;
    if (hidden) {
      this.#close(0);
      // The page's clock may stop while a phone sleeps, so that old data would seem new.
      this.#heardMs = Math.min(this.#heardMs, this.#surroundings.clock.nowMs() - STALE_MS);
    } else this.rest(false);
    this.#check();
  }

  /** Closes the stream, or opens it again. Call it with `false` when the window is used. */
  rest(resting: boolean): void {
    if (resting === this.resting.peek()) return;
    this.resting.value = resting;
    if (resting) this.#close(0);
    this.#check();
  }

  #check(): void {
    const nowMs = this.#surroundings.clock.nowMs();
    const silentMs = nowMs - this.#heardMs;
    this.fresh.value = silentMs < STALE_MS;
    const isRefused = this.#stream?.isClosed() === true;
    if (isRefused || (this.#stream && silentMs > DEAD_MS)) {
      this.#close(REOPEN_MS);
      this.#handlers.onLost(isRefused);
    }
    if (this.#stream === undefined && !this.#hidden && !this.resting.peek() && nowMs >= this.#reopenAtMs)
      this.#open();
  }

  #open(): void {
    const { clock, openStream } = this.#surroundings;
    const handlers = this.#handlers;
    const stream = openStream('/api/events');
    const lateS = lateness();
    let lateMs = 0;
    this.room.opened();
    this.#stream = stream;
    this.#heardMs = Math.max(this.#heardMs, clock.nowMs() - STALE_MS);
    stream.on('open', handlers.onOpen);
    const listen = <Data>(type: string, act: (data: Data) => void, first = (_: Data) => {}) =>
      stream.on(type, text => {
        const data: Data = JSON.parse(text);
        first(data);
        const nowMs = clock.nowMs();
        this.#heardMs = Math.max(this.#heardMs, nowMs - lateMs);
        act(data);
        this.fresh.value = nowMs - this.#heardMs < STALE_MS;
      });
    // An event of another type counts as being as late as the latest reading.
    listen('telemetry', handlers.onTelemetry, ({ t }) => {
      lateMs = 1000 * lateS(t, clock.nowMs() / 1000);
    });
    listen('status', handlers.onStatus);
    listen('step', handlers.onStep);
    listen('tune', handlers.onTune);
    listen('log', handlers.onLog);
  }

  #close(reopenAfterMs: number): void {
    if (this.#stream !== undefined) this.room.closed();
    this.#stream?.close();
    this.#stream = undefined;
    this.#reopenAtMs = this.#surroundings.clock.nowMs() + reopenAfterMs;
  }
}

/** The largest drift between two clocks, in seconds per second. */
const DRIFT = 0.001;

/**
 * Makes a function that returns how late a reading is, in seconds, compared with the quickest reading of its stream.
 * How long the quickest reading took is unknown. `t` is the daemon's time of the reading. `nowS` is the page's time
 * of its arrival.
 */
export function lateness(): (t: number, nowS: number) => number {
  let quickest = Number.POSITIVE_INFINITY;
  let lastT = 0;
  return (t, nowS) => {
    const took = nowS - t;
    // The browser may have reconnected to a restarted daemon, whose `t` starts at another value.
    quickest = t < lastT ? took : Math.min(took, quickest + DRIFT * (t - lastT));
    lastT = t;
    return took - quickest;
  };
}
