import type { Mode, UnitName } from '../../core/units.js';
import { type Ask, type AskOptions, Asks, LASER, STOP } from './asks.js';
import { createSend, type Fate, type Send, type SendHandlers } from './request.js';
import type { Surroundings } from './surroundings.js';

/** The caller's name and rights, from the daemon. */
export interface Session {
  readonly access: 'open' | 'closed' | 'unavailable';
  readonly name: string | null;
  readonly role: string | null;
  readonly rights: readonly string[];
  /** A daemon of version 0.2.0 does not send this. */
  readonly simulated?: boolean;
}

type DaemonHandlers = SendHandlers & Pick<AskOptions, 'rights'>;

/** All requests of the page to the daemon. */
export class DaemonClient {
  readonly asks: Asks;
  readonly #send: Send;

  constructor(surroundings: Surroundings, { rights, ...handlers }: DaemonHandlers) {
    this.#send = createSend(surroundings, handlers);
    this.asks = new Asks({ clock: surroundings.clock, rights, send: this.#send });
  }

  /**
   * Call this when data comes from the daemon. The daemon is then reachable, so an unanswered STOP or Off is sent
   * again at once.
   */
  heard = () => this.asks.pass(true);
  press = <T>(ask: Ask) => this.asks.press<T>(ask);
  stop = () => this.press({ path: STOP, rule: 'insists' });
  resume = (since?: number) => this.press({ path: '/api/resume', rule: 'calms', ends: STOP, since });
  light = () => this.press({ path: LASER, body: { action: 'on' }, rule: 'moves' });
  darken = (fate?: Fate) =>
    this.press({ path: LASER, body: { action: 'off' }, rule: 'insists', expires: true, fate });
  switchMode = (unit: UnitName, mode: Mode, since?: number) => {
    const rule = mode === 'manual' ? 'calms' : 'moves';
    return this.press({ path: `/api/${unit}/mode/switch`, body: { mode }, rule, since });
  };

  /** `get`, `post` and `delete` send a request once, whatever asks are pending. */
  get = <T>(path: string) => this.#send<T>('GET', path);
  /** Resolves with undefined if the request is refused or not answered. */
  read = async <T>(path: string): Promise<T | undefined> => {
    const outcome = await this.get<T>(path);
    return 'body' in outcome ? outcome.body : undefined;
  };
  post = <T>(path: string, body: unknown) => this.#send<T>('POST', path, body);
  delete = <T>(path: string) => this.#send<T>('DELETE', path);
}
