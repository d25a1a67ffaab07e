import type { LogEvent } from '../../schemas/log.js';
import type { Status } from '../../schemas/status.js';
import type { Step } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';
import { lateness } from './lateness.js';
import type { Sample } from './robot-state.js';
import { StreamRoom } from './stream-room.js';

export interface StreamHandlers {
  readonly onOpen: () => void;
  /**
   * The daemon refused the stream; or nothing came of it for DEAD_MS, or only what is older than that. Most browsers go on
   * trying to reach a daemon that is away, which is silence too.
   */
  readonly onLost: (isRefused: boolean) => void;
  /** What is done with the data of each type of event. */
  readonly events: {
    readonly status: (status: Status) => void;
    readonly telemetry: (sample: Sample) => void;
    readonly step: (step: Step) => void;
    readonly tune: (tune: Tune) => void;
    readonly log: (event: LogEvent) => void;
  };
  /** Newer windows have the connections; a press or a key wakes this one. */
  readonly onRest: (resting: boolean) => void;
  /** What was heard last is not older than STALE_MS, or it is. */
  readonly onFreshness: (fresh: boolean) => void;
}

/** Late timers of a busy browser have room up to the second that is promised. */
const STALE_MS = 750;
/** A connection that is silent for so long is given up, whatever the browser thinks of it. */
const DEAD_MS = 4000;
const REOPEN_MS = 500;
const GIVEN_WAY_MS = 1500;
const LOOK_MS = 50;

/** The stream of events, kept open while the page can be seen and newer windows do not need the connection. */
export class EventStream {
  readonly #handlers: StreamHandlers;
  readonly #room: StreamRoom;
  readonly #channel = new BroadcastChannel('trunnion');
  #resting = false;
  #source: EventSource | undefined;
  #reopenAtMs = 0;
  /** The moment of which was heard last, on the page's clock: a slow link brings what was true some time ago. */
  #heardMs = Number.NEGATIVE_INFINITY;
  #fresh = false;

  constructor(handlers: StreamHandlers) {
    this.#handlers = handlers;
    this.#room = new StreamRoom({
      id: String(Math.random()),
      channel: this.#channel,
      onCrowded: () => this.#rest(true),
      onGiveWay: () => this.#close(GIVEN_WAY_MS),
    });
  }

  start(): void {
    document.addEventListener('visibilitychange', () => {
      if (document.hidden) this.#close(0);
      else this.#rest(false);
      this.#look();
    });
    window.addEventListener('pagehide', () => this.#close(0));
    for (const type of ['focus', 'pointerdown', 'keydown']) {
      window.addEventListener(type, () => this.#rest(false), { capture: true });
    }
    this.#channel.addEventListener('message', event => this.#room.hear(event.data));
    setInterval(() => this.#look(), LOOK_MS);
    this.#look();
  }

  /** Frees connections, here and in the other tabs. */
  giveWay(): void {
    this.#room.askForWay();
  }

  #rest(resting: boolean): void {
    if (resting === this.#resting) return;
    this.#resting = resting;
    if (resting) this.#close(0);
    this.#handlers.onRest(resting);
    this.#look();
  }

  #look(): void {
    const nowMs = performance.now();
    const silentMs = nowMs - this.#heardMs;
    this.#setFresh(silentMs < STALE_MS);
    const isRefused = this.#source?.readyState === EventSource.CLOSED;
    if (isRefused || (this.#source && silentMs > DEAD_MS)) {
      this.#close(REOPEN_MS);
      this.#handlers.onLost(isRefused);
    }
    if (this.#source === undefined && !document.hidden && !this.#resting && nowMs >= this.#reopenAtMs)
      this.#open();
  }

  #open(): void {
    const source = new EventSource('/api/events');
    const lateS = lateness();
    let lateMs = 0;
    this.#room.opened();
    this.#source = source;
    this.#heardMs = Math.max(this.#heardMs, performance.now() - STALE_MS);
    source.addEventListener('open', () => this.#handlers.onOpen());
    for (const [type, act] of Object.entries(this.#handlers.events)) {
      source.addEventListener(type, event => {
        if (source !== this.#source) return;
        const data = JSON.parse(event.data);
        const nowMs = performance.now();
        // What comes behind a reading is as late as that.
        if (type === 'telemetry') lateMs = 1000 * lateS(data.t, nowMs / 1000);
        this.#heardMs = Math.max(this.#heardMs, nowMs - lateMs);
        act(data);
        this.#setFresh(nowMs - this.#heardMs < STALE_MS);
      });
    }
  }

  #close(reopenAfterMs: number): void {
    if (this.#source !== undefined) this.#room.closed();
    this.#source?.close();
    this.#source = undefined;
    this.#reopenAtMs = performance.now() + reopenAfterMs;
  }

  #setFresh(fresh: boolean): void {
    if (fresh === this.#fresh) return;
    this.#fresh = fresh;
    this.#handlers.onFreshness(fresh);
  }
}
