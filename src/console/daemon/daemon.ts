import type { GainSet, Mode, UnitName } from '../../core/units.js';
import type { TrialStatus } from '../../schemas/status.js';
import type { Tune } from '../../schemas/tune.js';
import { type Ask, Asks, deadlineMs, type Press, STOP } from './asks.js';
import { createSend, type Send, type SendHandlers } from './request.js';
import type { Surroundings } from './surroundings.js';

/** Who is at this page and what they may do, as the daemon says. */
export interface Session {
  readonly access: 'open' | 'closed' | 'unavailable';
  readonly name: string | null;
  readonly role: string | null;
  readonly rights: readonly string[];
  /** A daemon of 0.2.0 does not say it. */
  readonly simulated?: boolean;
}

type TuneBody = { readonly leaseS: number } & (
  | { readonly id: string }
  | { readonly loops: readonly string[]; readonly style: Tune['style'] }
);

interface DaemonHandlers extends SendHandlers {
  /** The caller's rights; undefined as long as they are unknown. */
  readonly rights: () => string | undefined;
}

const LASER = '/api/laser';

/** All that the page asks of the daemon. */
export class DaemonClient {
  readonly #send: Send;
  readonly #asks: Asks;

  constructor(surroundings: Surroundings, { rights, ...handlers }: DaemonHandlers) {
    this.#send = createSend(surroundings, handlers);
    this.#asks = new Asks({
      clock: surroundings.clock,
      rights,
      send: (press, signal) => {
        const { path, method = 'POST', body } = press.ask;
        return this.#send(method, path, body, { signal, deadlineMs: deadlineMs(press) });
      },
    });
  }

  /** The newest STOP that was pressed here, until it need not be told any more. */
  get stopPress(): Press | undefined {
    return this.#asks.insisting(STOP);
  }

  /** The newest Off that was pressed here, unless an On came after it. */
  get offPress(): Press | undefined {
    return this.#asks.insisting(LASER);
  }

  /** The number of presses so far. An ask that has to wait passes it on as `since`, so that a STOP drops it. */
  get presses(): number {
    return this.#asks.presses;
  }

  /** Something came from the daemon, so a STOP or an Off without an answer is sent again at once. */
  heard = () => this.#asks.pass(true);
  forgetStop = () => this.#asks.forget(STOP);
  forgetOff = () => this.#asks.forget(LASER);

  press = <T>(ask: Ask) => this.#asks.press<T>(ask);
  stop = () => this.#asks.press({ path: STOP, rule: 'insists' });
  resume = () => this.#asks.press({ path: '/api/resume', rule: 'calms', ends: STOP });
  light = () => this.#asks.press({ path: LASER, body: { action: 'on' }, rule: 'moves' });
  darken = () => this.#asks.press({ path: LASER, body: { action: 'off' }, rule: 'insists', expires: true });
  switchMode = (unit: UnitName, mode: Mode) =>
    this.#asks.press({ path: `/api/${unit}/mode/switch`, body: { mode }, rule: calmsIf(mode === 'manual') });
  excite = (unit: UnitName, body: { loop: string; amplitude: number | null; periodS: number | null }) =>
    this.#asks.press({ path: `/api/${unit}/excitation`, body, rule: calmsIf(body.amplitude === 0) });

  /** Begins a trial, or changes or renews the one with this id. */
  tryGains = (
    unit: UnitName,
    body: { gains: GainSet; leaseS: number; id: string | undefined },
    options: Pick<Ask, 'renews' | 'since'>,
  ) =>
    this.#asks.press<TrialStatus>({ path: `/api/${unit}/pidconfig/trial`, body, rule: 'moves', ...options });

  /** Begins a tuning, or renews the one with this id. */
  tune = (unit: UnitName, body: TuneBody) =>
    this.#asks.press<Tune>({ path: `/api/${unit}/autotune`, body, rule: 'moves', renews: 'id' in body });
  endTune = (unit: UnitName) =>
    this.#asks.press({ path: `/api/${unit}/autotune`, method: 'DELETE', rule: 'calms' });

  /** Requests that are sent once, whatever else is asked for. */
  get = <T>(path: string) => this.#send<T>('GET', path);
  post = <T>(path: string, body: unknown) => this.#send<T>('POST', path, body);
  delete = <T>(path: string) => this.#send<T>('DELETE', path);
}

const calmsIf = (calms: boolean) => (calms ? 'calms' : 'moves');
