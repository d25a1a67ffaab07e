import { LASER, STOP, WANTED_MS } from '../../src/console/daemon/asks.js';
import { DaemonClient } from '../../src/console/daemon/daemon.js';
import type { HttpAnswer, HttpRequest } from '../../src/console/daemon/surroundings.js';
import { type Clock, every } from '../../src/core/clock.js';
import type { Mode, UnitName } from '../../src/core/units.js';
import type { Call } from './asked.js';
import { promise } from './broken-promise.js';
import type { Guard } from './guard.js';
import type { Request } from './request.js';

/** The network between the page and the robot. */
export interface Network {
  readonly requestMs: number;
  readonly answerMs: number;
  /** What never arrives. */
  readonly loses: 'nothing' | 'requests' | 'answers';
}

export const CLEAR: Network = { requestMs: 0, answerMs: 0, loses: 'nothing' };

/** A button that a person presses on the page. */
export type Pressed =
  | { readonly act: 'stop' | 'resume' | 'light' | 'darken' }
  | { readonly act: 'mode'; readonly unit: UnitName; readonly mode: Mode };

interface PageParts {
  readonly clock: Clock;
  /** Undefined if the daemon does not listen. */
  readonly ask: (request: Request) => Call | undefined;
  readonly guard: Guard;
}

const RESUME = '/api/resume';
/** The page receives the status once in this time. */
const HEARS_MS = 100;

/**
 * Drives the operator's page as a caller. The page uses its real protocol on a network that may delay or lose
 * messages.
 */
export class WalkPage {
  network = CLEAR;
  readonly #parts: PageParts;
  readonly #client: DaemonClient;
  /** The number of presses so far, in total and by path. */
  #presses = 0;
  readonly #pressesOf = new Map<string, number>();
  /** The number of requests so far, by path. */
  readonly #sentOf = new Map<string, number>();
  /** The value of `#presses` at the latest press of Stop, and of Off. */
  #lastStop = 0;
  #lastDarken = 0;
  /** The value of `#presses` at the press of the latest resume that was answered 200. */
  #lastResumed = 0;
  /** The wall-clock time of the latest press of Off. */
  #darkenMs = 0;

  constructor(parts: PageParts) {
    this.#parts = parts;
    this.#client = new DaemonClient(
      {
        clock: parts.clock,
        version: '',
        fetch: (path, asked) => this.#fetch(path, asked),
        openStream: () => ({ on: () => undefined, isClosed: () => false, close: () => undefined }),
        storage: { read: () => null, write: () => undefined, follow: (_, act) => act() },
        tellWindows: () => undefined,
        reload: () => undefined,
      },
      { rights: () => 'drive', onStuck: () => undefined, onIdentityRefused: () => undefined },
    );
    every(parts.clock, HEARS_MS, () => {
      if (this.network.loses === 'nothing') this.#client.heard();
    });
  }

  press(pressed: Pressed): void {
    this.#presses += 1;
    const number = this.#presses;
    const client = this.#client;
    switch (pressed.act) {
      case 'stop':
        this.#lastStop = number;
        void client.stop();
        return;
      case 'darken':
        this.#lastDarken = number;
        this.#darkenMs = this.#wallMs;
        void client.darken();
        return;
      case 'light':
        this.#count(this.#pressesOf, LASER);
        void client.light();
        return;
      case 'resume':
        this.#count(this.#pressesOf, RESUME);
        void client.resume().then(outcome => {
          if ('body' in outcome) this.#lastResumed = number;
        });
        return;
      case 'mode':
        this.#count(this.#pressesOf, `/api/${pressed.unit}/mode/switch`);
        void client.switchMode(pressed.unit, pressed.mode);
    }
  }

  /** Call this after all faults have ended and the network is clear. */
  judgeSettled(): void {
    for (const path of [STOP, LASER]) {
      const press = this.#client.asks.insisting(path);
      const isPending = press?.fate.state.peek() === 'pending';
      promise(!isPending, 'page insists until it is answered', () => `${path} has no answer`);
    }
  }

  #fetch(path: string, { method, body, signal }: HttpRequest): Promise<HttpAnswer> {
    const asked: unknown = body === undefined ? undefined : JSON.parse(body);
    const { network } = this;
    const { clock, ask, guard } = this.#parts;
    const pressed = this.#presses;
    return new Promise((resolve, reject) => {
      const isOff = body === '{"action":"off"}';
      let call: Call | undefined;
      const arrives = clock.after(network.requestMs, () => {
        if (network.loses === 'requests') return;
        call = ask({ method: method === 'POST' ? 'POST' : 'GET', path, body: asked, as: 'operator' });
        if (call === undefined) return reject(new Error('no connection'));
        void call.answer.then(answer => {
          if (network.loses === 'answers') return;
          const json = async <T>() => answer.body as T;
          clock.after(network.answerMs, () => resolve({ status: answer.status, json }));
        });
        guard.run(() => this.#arrived(path, isOff, pressed));
      });
      signal.addEventListener('abort', () => {
        arrives.cancel();
        call?.hangUp();
        reject(new Error('taken back'));
      });
      guard.run(() => this.#sent(path, isOff));
    });
  }

  #sent(path: string, isOff: boolean): void {
    if (isOff) {
      const isOld = Math.abs(this.#wallMs - this.#darkenMs) > WANTED_MS;
      promise(!isOld, 'page gives an Off up after a minute', () => 'it was sent again later');
    } else if (path !== STOP) {
      this.#count(this.#sentOf, path);
      const isOnce = (this.#sentOf.get(path) ?? 0) <= (this.#pressesOf.get(path) ?? 0);
      promise(isOnce, 'page sends once', () => `${path} was sent more often than it was pressed`);
    }
  }

  /** `pressed`: the number of presses when this request was sent. */
  #arrived(path: string, isOff: boolean, pressed: number): void {
    const isTakenBack =
      path === STOP
        ? this.#lastResumed > Math.max(pressed, this.#lastStop)
        : !isOff && (this.#lastStop > pressed || (path === LASER && this.#lastDarken > pressed));
    promise(!isTakenBack, 'page takes back', () => `${path} arrived after a later press had replaced it`);
  }

  #count(counts: Map<string, number>, path: string): void {
    counts.set(path, (counts.get(path) ?? 0) + 1);
  }

  get #wallMs(): number {
    return this.#parts.clock.wallTime().getTime();
  }
}
