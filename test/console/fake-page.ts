import { stripLines } from '../../src/console/bar/strip.js';
import type { HttpAnswer, ServerEvents, Surroundings } from '../../src/console/daemon/surroundings.js';
import { Model } from '../../src/console/model/model.js';
import { every } from '../../src/core/clock.js';
import type { Telemetry } from '../../src/schemas/telemetry.js';
import { ManualClock } from '../support/manual-clock.js';
import { type FakeAnswer, FakeDaemon } from './fake-daemon.js';

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
  #answer: FakeAnswer | undefined;
  readonly #resolve: (answer: FakeAnswer) => void;
  readonly #daemon: FakeDaemon;

  constructor(
    daemon: FakeDaemon,
    asked: Pick<FakeRequest, 'method' | 'path' | 'body'>,
    resolve: (answer: FakeAnswer) => void,
  ) {
    this.#daemon = daemon;
    this.method = asked.method;
    this.path = asked.path;
    this.body = asked.body;
    this.#resolve = resolve;
  }

  /** Lets the request reach the daemon, unless the page has cancelled it. */
  arrive(): void {
    if (!this.isTakenBack) this.#answer ??= this.#daemon.answer(this.method, this.path, this.body);
  }

  /** Lets the request arrive, and its answer reach the page. */
  deliver(): void {
    this.arrive();
    if (this.#answer === undefined) return;
    this.isAnswered = true;
    this.#resolve(this.#answer);
  }
}

/** One browser. Its windows share storage, and receive one another's messages. */
export class FakeBrowser {
  readonly items = new Map<string, string>();
  readonly pages: FakePage[] = [];
}

interface Opening {
  readonly daemon?: FakeDaemon;
  readonly browser?: FakeBrowser;
  readonly clock?: ManualClock;
  readonly version?: string;
  readonly isLive?: boolean;
  /** The earlier readings and events that the daemon has. */
  readonly past?: readonly Telemetry[];
}

/** The operator's page without its components, on a manual clock and a fake daemon. */
export class FakePage {
  readonly clock: ManualClock;
  readonly daemon: FakeDaemon;
  readonly browser: FakeBrowser;
  readonly model: Model;
  /** The requests that the page has sent, oldest first. */
  readonly requests: FakeRequest[] = [];
  fate: (request: FakeRequest) => Fate = () => 'delivered';
  /** If true, no data arrives on the stream, as behind a proxy that buffers it. */
  isDeaf = false;
  /** The additional delay of telemetry. */
  lateMs = 0;
  reloads = 0;
  /** How long the device has slept. Its wall clock advances during a sleep, but the page's clock does not. */
  sleptMs = 0;
  readonly storageListeners: { readonly key: string; readonly act: () => void }[] = [];

  private constructor({
    daemon = new FakeDaemon(),
    browser = new FakeBrowser(),
    clock,
    version = '1',
  }: Opening) {
    this.clock = clock ?? new ManualClock();
    this.daemon = daemon;
    this.browser = browser;
    browser.pages.push(this);
    this.model = new Model(this.#surroundings(version));
  }

  static async open(opening: Opening = {}): Promise<FakePage> {
    const page = new FakePage(opening);
    page.daemon.past = opening.past ?? [];
    page.daemon.nowS = () => page.clock.nowMs() / 1000;
    every(page.clock, 100, () => page.#tick());
    page.model.stream.start();
    await page.wait(300);
    return page;
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

  #tick(): void {
    const t = this.clock.nowMs() / 1000;
    const status = this.daemon.status(this.clock.nowMs());
    this.#hears?.('status', status);
    this.#hears?.('telemetry', { t: t - this.lateMs / 1000, gimbal: null, chassis: null });
  }

  #hears: ((type: string, data: unknown) => void) | undefined;

  #surroundings(version: string): Surroundings {
    const { clock, browser } = this;
    return {
      clock: {
        nowMs: () => clock.nowMs(),
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
      const request = new FakeRequest(this.daemon, asked, answer =>
        resolve({ status: answer.status, json: async <T>() => structuredClone(answer.body) as T }),
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
    const isRefused = !this.daemon.session.rights.includes('read');
    const hear = (type: string, data: unknown) => {
      if (!this.isDeaf) acts.get(type)?.(JSON.stringify(data));
    };
    if (!isRefused) {
      this.daemon.streams.add(hear);
      this.#hears = hear;
      this.clock.after(0, () => {
        if (!this.isDeaf) acts.get('open')?.('');
      });
    }
    return {
      on: (type, act) => acts.set(type, act),
      isClosed: () => isRefused,
      close: () => {
        this.daemon.streams.delete(hear);
        acts.clear();
      },
    };
  }
}
