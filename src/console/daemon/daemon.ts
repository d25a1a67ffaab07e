import type { GainSet, Mode, Rates, UnitName } from '../../core/units.js';
import type { TrialStatus } from '../../schemas/status.js';
import type { Tune } from '../../schemas/tune.js';
import { type Ask, Asks, deadlineMs, STOP } from './asks.js';
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

type TuneBody = { readonly leaseS: number } & (
  | { readonly id: string }
  | { readonly loops: readonly string[]; readonly style: Tune['style'] }
);

type DriveBody = Readonly<Partial<Record<UnitName, Rates>>> & {
  readonly id: string;
  readonly holdMs: number;
  readonly notAfterT?: number;
  readonly takeover?: boolean;
};

interface DaemonHandlers extends SendHandlers {
  /** The caller's rights. Undefined until they are known. */
  readonly rights: () => string | undefined;
}

export const LASER = '/api/laser';

/** All requests of the page to the daemon. */
export class DaemonClient {
  readonly asks: Asks;
  readonly #send: Send;

  constructor(surroundings: Surroundings, { rights, ...handlers }: DaemonHandlers) {
    this.#send = createSend(surroundings, handlers);
    this.asks = new Asks({
      clock: surroundings.clock,
      rights,
      send: (press, signal) => {
        const { path, method = 'POST', body } = press.ask;
        return this.#send(method, path, body, { signal, deadlineMs: deadlineMs(press) });
      },
    });
  }

  /**
   * Call this when data comes from the daemon. The daemon is then reachable, so an unanswered STOP or Off is sent
   * again at once.
   */
  heard = () => this.asks.pass(true);
  stop = () => this.asks.press({ path: STOP, rule: 'insists' });
  resume = (options: Pick<Ask, 'since'> = {}) =>
    this.asks.press({ path: '/api/resume', rule: 'calms', ends: STOP, ...options });
  light = () => this.asks.press({ path: LASER, body: { action: 'on' }, rule: 'moves' });
  darken = (fate?: Fate) =>
    this.asks.press({ path: LASER, body: { action: 'off' }, rule: 'insists', expires: true, fate });
  switchMode = (unit: UnitName, mode: Mode, options: Pick<Ask, 'since'> = {}) =>
    this.asks.press({
      path: `/api/${unit}/mode/switch`,
      body: { mode },
      rule: calmsIf(mode === 'manual'),
      ...options,
    });
  excite = (unit: UnitName, body: { loop: string; amplitude: number | null; periodS: number | null }) =>
    this.asks.press({ path: `/api/${unit}/excitation`, body, rule: calmsIf(body.amplitude === 0) });

  /** A newer command takes the place of an unanswered one, whose request is cancelled. */
  drive = (body: DriveBody) =>
    this.asks.press<Readonly<Partial<Record<UnitName, Rates>>>>({ path: '/api/drive', body, rule: 'moves' });

  /** Begins a trial, or changes or renews the one with this id. */
  tryGains = (
    unit: UnitName,
    body: { gains: GainSet; leaseS: number; id: string | undefined },
    options: Pick<Ask, 'renews' | 'since'>,
  ) =>
    this.asks.press<TrialStatus>({ path: `/api/${unit}/pidconfig/trial`, body, rule: 'moves', ...options });

  /** Begins a tuning, or renews the one with this id. */
  tune = (unit: UnitName, body: TuneBody) =>
    this.asks.press<Tune>({ path: `/api/${unit}/autotune`, body, rule: 'moves', renews: 'id' in body });
  endTune = (unit: UnitName) =>
    this.asks.press({ path: `/api/${unit}/autotune`, method: 'DELETE', rule: 'calms' });

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

const calmsIf = (calms: boolean) => (calms ? 'calms' : 'moves');
