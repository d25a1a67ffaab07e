import { stripLines } from '../../src/console/bar/strip.js';
import type { HttpAnswer, ServerEvents, Surroundings } from '../../src/console/daemon/surroundings.js';
import { Model } from '../../src/console/model/model.js';
import type { ManualClock } from '../support/manual-clock.js';
import { FakeDaemon } from './fake-daemon.js';
import { type FakeAnswer, type PageDaemon, ServingDaemon } from './page-daemon.js';

/**
 * `delivered`: arrives and is answered at once. `held`: arrives when the test delivers it. `answer held`: arrives at
 * once, and is answered when the test says so. `lost`: never arrives. `failed`: the browser reports at once that
 * there is no connection.
 */
export type Fate = 'delivered' | 'held' | 'answer held' | 'lost' | 'failed';

/** A request of the page that has not been answered. */
export class FakeRequest {
  readonly method: string;
  readonly path: string;
  // biome-ignore lint/suspicious/noExplicitAny: requests of the page under test.
  readonly body: any;
  isTakenBack = false;
  isAnswered = false;
  #answer: FakeAnswer | Promise<FakeAnswer> | undefined;
  readonly #ask: (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>;
  readonly #resolve: (answer: FakeAnswer) => void;

  constructor(
    asked: Pick<FakeRequest, 'method' | 'path' | 'body'>,
    ask: (request: FakeRequest) => FakeAnswer | Promise<FakeAnswer>,
    resolve: (answer: FakeAnswer) => void,
  ) {
    this.method = asked.method;
    this.path = asked.path;
    this.body = asked.body;
    this.#ask = ask;
    this.#resolve = resolve;
  }

  /** Lets the request reach the daemon, unless the page has cancelled it. */
  arrive(): void {
    if (!this.isTakenBack) this.#answer ??= this.#ask(this);
  }

  /** Lets the request arrive, and its answer reach the page. */
  deliver(): void {
    this.arrive();
    if (this.#answer === undefined) return;
    void Promise.resolve(this.#answer).then(answer => {
      this.isAnswered = true;
      this.#resolve(answer);
    });
  }
}

/** One browser. Its windows share storage and cookie, and receive one another's messages. */
export class FakeBrowser {
  readonly items = new Map<string, string>();
  readonly pages: FakePage<PageDaemon>[] = [];
  cookie: string | undefined;
}

interface Opening {
  readonly browser?: FakeBrowser;
  /** The version of the page. By default that of the daemon. */
  readonly version?: string;
}

/** The operator's page without its components, on the manual clock of its daemon. */
export class FakePage<Daemon extends PageDaemon = FakeDaemon> {
  readonly daemon: Daemon;
  readonly browser: FakeBrowser;
  readonly model: Model;
  /** The requests that the page has sent, oldest first. */
  readonly requests: FakeRequest[] = [];
  fate: (request: FakeRequest) => Fate = () => 'delivered';
  /** Answers that replace the daemon's own. */
  override: (method: string, path: string, body: unknown) => FakeAnswer | undefined = () => undefined;
  /** If true, no data arrives on the stream, as behind a proxy that buffers it. */
  isDeaf = false;
  /** The delay of everything on the stream. */
  lateMs = 0;
  reloads = 0;
  /** How long the device has slept. Its wall clock advances during a sleep, but the page's clock does not. */
  sleptMs = 0;
  /** How far the page's clock is behind, because it stood still while the device slept and the daemon ran. */
  behindMs = 0;
  readonly storageListeners: { readonly key: string; readonly act: () => void }[] = [];

  private constructor(daemon: Daemon, { browser = new FakeBrowser(), version = daemon.version }: Opening) {
    this.daemon = daemon;
    this.browser = browser;
    browser.pages.push(this);
    this.model = new Model(this.#surroundings(version));
  }

  /** Opens a page of a fake daemon. */
  static open(daemon = new FakeDaemon()) {
    return FakePage.of(daemon);
  }

  static async of<Daemon extends PageDaemon>(
    daemon: Daemon,
    opening: Opening = {},
  ): Promise<FakePage<Daemon>> {
    const page = new FakePage(daemon, opening);
    page.model.stream.start();
    await page.wait(300);
    return page;
  }

  /** Opens another window of the same browser, or this page again after a reload. */
  another(): Promise<FakePage<Daemon>> {
    return FakePage.of(this.daemon, { browser: this.browser });
  }

  get clock(): ManualClock {
    return this.daemon.clock;
  }

  /** Lets time pass until the page's act is over. */
  during<T>(act: Promise<T>): Promise<T> {
    return this.clock.during(act);
  }

  /** Lets time pass until the page's act is over, and the page has heard of its effect. */
  async untilHeard(act: Promise<unknown>): Promise<void> {
    await this.during(act);
    await this.wait(200);
  }

  async wait(ms: number): Promise<void> {
    await this.clock.advance(ms);
  }

  /** The lines of the strip, the most urgent first. */
  get strip(): string {
    return stripLines(this.model)
      .map(({ tone, about, text }) => `${tone}: ${about} ${text}`)
      .join('\n');
  }

  sentTo(path: RegExp, method = 'POST'): FakeRequest[] {
    return this.requests.filter(one => path.test(one.path) && one.method === method);
  }

  /** Sets the fate of requests to this path. All other requests reach the daemon. */
  let(path: RegExp, fate: Fate, method?: string): void {
    this.fate = one => (path.test(one.path) && (method ?? one.method) === one.method ? fate : 'delivered');
  }

  /** From now on, requests whose method and path are like this are refused. All others reach the daemon. */
  refuse(like: RegExp, status: number, code: string, detail = 'A reason.', more = {}): void {
    this.override = (method, path) =>
      like.test(`${method} ${path}`) ? { status, body: { code, detail, ...more } } : undefined;
  }

  /** Silences the stream until the page counts its data as stale. */
  async loseContact(): Promise<void> {
    this.isDeaf = true;
    await this.wait(900);
  }

  /** Breaks the network. */
  cut(): void {
    this.fate = () => 'failed';
    this.isDeaf = true;
  }

  /** Repairs the network. */
  mend(): void {
    this.fate = () => 'delivered';
    this.isDeaf = false;
  }

  /** Types a gain and leaves the field. */
  edit(unit: 'gimbal' | 'chassis', pointer: string, text: string): void {
    this.model.gains[unit].edit(pointer, text);
    this.model.gains[unit].tidy();
  }

  #surroundings(version: string): Surroundings {
    const { clock, browser } = this;
    return {
      clock: {
        nowMs: () => clock.nowMs() - this.behindMs,
        after: (ms, act) => clock.after(ms, act),
        wallTime: () => new Date(clock.wallTime().getTime() + this.sleptMs),
      },
      version,
      fetch: (path, { method, body, signal }) => this.#fetch(path, method, body, signal),
      openStream: () => this.#openStream(),
      storage: {
        read: key => browser.items.get(key) ?? null,
        write: (key, text) => {
          browser.items.set(key, text);
          for (const other of browser.pages) {
            if (other === this) continue;
            for (const { key: of, act } of other.storageListeners) if (of === key) act();
          }
        },
        follow: (key, act) => {
          act();
          this.storageListeners.push({ key, act });
        },
      },
      tellWindows: message => {
        for (const other of browser.pages) if (other !== this) other.model.stream.room.hear(message);
      },
      reload: () => {
        this.reloads += 1;
      },
    };
  }

  #fetch(path: string, method: string, body: string | undefined, signal: AbortSignal): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(new Error('taken back'));
      const asked = { method, path, body: body === undefined ? undefined : JSON.parse(body) };
      const request = new FakeRequest(
        asked,
        ({ body }) =>
          this.override(method, path.replace(/\?.*/, ''), body) ??
          this.daemon.answer(method, path, body, this.browser),
        answer => resolve({ status: answer.status, json: async <T>() => structuredClone(answer.body) as T }),
      );
      signal.addEventListener('abort', () => {
        request.isTakenBack = !request.isAnswered;
        reject(new Error('taken back'));
      });
      this.requests.push(request);
      const fate = this.fate(request);
      if (fate === 'failed') reject(new Error('no connection'));
      if (fate === 'delivered') request.deliver();
      if (fate === 'answer held') request.arrive();
    });
  }

  #openStream(): ServerEvents {
    const acts = new Map<string, (data: string) => void>();
    let isOpen = false;
    const take = (type: string, data: string) => {
      // A proxy that buffered the stream passes its beginning first.
      if (!isOpen) acts.get('open')?.('');
      isOpen = true;
      acts.get(type)?.(data);
    };
    const hear = (type: string, data: string) => {
      if (this.isDeaf) return;
      if (this.lateMs === 0) take(type, data);
      else this.clock.after(this.lateMs, () => take(type, data));
    };
    const { isClosed, close } = this.daemon.listen(hear, this.browser);
    return {
      on: (type, act) => acts.set(type, act),
      isClosed,
      close: () => {
        close();
        acts.clear();
      },
    };
  }
}

/** Opens a page of the real daemon. */
export async function servedPage(
  settings: Parameters<typeof ServingDaemon.start>[0] = {},
): Promise<FakePage<ServingDaemon>> {
  return FakePage.of(await ServingDaemon.start(settings));
}
