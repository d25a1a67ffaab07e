import type { UnitName } from '../../src/core/units.js';
import { version } from '../../src/core/version.js';
import { ClockedDaemon, type Settings } from '../support/clocked-daemon.js';
import type { ManualClock } from '../support/manual-clock.js';
import type { MemoryCall } from '../support/memory-call.js';

export interface FakeAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface Stream {
  /** True if the daemon refused the stream. */
  readonly isClosed: () => boolean;
  readonly close: () => void;
}

/** What a browser keeps for its daemon. */
interface CookieJar {
  cookie: string | undefined;
}

/** A daemon as a page reaches it. */
export interface PageDaemon {
  readonly clock: ManualClock;
  readonly version: string;
  answer(method: string, path: string, body: unknown, browser: CookieJar): FakeAnswer | Promise<FakeAnswer>;
  /** Opens a stream. `hear` gets each event. */
  listen(hear: (type: string, data: string) => void, browser: CookieJar): Stream;
}

const ORIGIN = 'http://localhost:8080';
const ANOTHER = '192.0.2.2';

/** After this time, the pages show the effect of a request. */
const SHOWN_MS = 200;

/** Few polls, so that long waits cost little processor time. */
const POLL_HZ = 10;

function settingsOf({ config, ...others }: Settings): Settings {
  return {
    isStill: true,
    ...others,
    config: { ...config, supervision: { pollHz: POLL_HZ, ...config?.supervision } },
  };
}

/** The real daemon, in simulated time. Its robot stands still. */
export class ServingDaemon implements PageDaemon {
  readonly clock: ManualClock;
  readonly version = version;
  #daemon: ClockedDaemon;
  readonly #streams = new Set<() => void>();

  private constructor(daemon: ClockedDaemon) {
    this.#daemon = daemon;
    this.clock = daemon.clock;
  }

  static async start(settings: Settings = {}): Promise<ServingDaemon> {
    return new ServingDaemon(await ClockedDaemon.start(settingsOf(settings)));
  }

  /** Ends the daemon, and starts another one with these settings at its address. */
  async becomes(settings: Settings): Promise<void> {
    await this.#daemon.close();
    this.#daemon = await ClockedDaemon.start(settingsOf({ clock: this.clock, ...settings }));
    // As a browser does when the server has ended a stream.
    for (const open of this.#streams) open();
  }

  /** Another process writes a state file. */
  put(name: string, content: Buffer): void {
    this.#daemon.put(name, content);
  }

  /** The request of another caller. `as` is the name of that caller's token. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert.
  ask(ask: string, body?: unknown, as?: string): Promise<any> {
    return this.#daemon.bodyOf(ask, body, { from: ANOTHER, ...(as !== undefined && { as }) });
  }

  /** The same, until the pages show what it has changed. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers whose shape they assert.
  async askAndWait(ask: string, body?: unknown, as?: string): Promise<any> {
    const answer = await this.ask(ask, body, as);
    await this.clock.advance(SHOWN_MS);
    return answer;
  }

  status() {
    return this.ask('GET /api/status');
  }

  gains(unit: UnitName): Promise<Record<string, { kp: number; ki: number; kd: number }>> {
    return this.ask(`GET /api/${unit}/pidconfig`);
  }

  /** Another caller saves, and the pages hear of it. */
  async save(unit: UnitName, loop: string, kp: number): Promise<void> {
    const gains = await this.gains(unit);
    await this.askAndWait(`POST /api/${unit}/pidconfig`, { ...gains, [loop]: { ...gains[loop], kp } });
  }

  async answer(method: string, path: string, body: unknown, browser: CookieJar): Promise<FakeAnswer> {
    const call = this.#daemon.send({ ask: `${method} ${path}`, body, headers: headersOf(browser) });
    if (call === undefined) throw new Error('no connection');
    const answer = await call.answer;
    const [cookie] = answer.headers['Set-Cookie']?.split(';') ?? [];
    if (cookie !== undefined) browser.cookie = cookie;
    return { status: answer.status, body: answer.body };
  }

  listen(hear: (type: string, data: string) => void, browser: CookieJar): Stream {
    let call: MemoryCall | undefined;
    const open = () => {
      call = this.#daemon.send({ ask: 'GET /api/events', headers: headersOf(browser) });
      if (call === undefined) return;
      call.hear = part => {
        for (const [, type = '', data = ''] of part.matchAll(/event: (\w+)\ndata: (.*)\n\n/g))
          hear(type, data);
      };
    };
    open();
    this.#streams.add(open);
    return {
      isClosed: () => (call?.received?.status ?? 200) !== 200,
      close: () => {
        this.#streams.delete(open);
        call?.hangUp();
      },
    };
  }
}

function headersOf({ cookie }: CookieJar): Readonly<Record<string, string>> {
  return { Origin: ORIGIN, ...(cookie !== undefined && { Cookie: cookie }) };
}
