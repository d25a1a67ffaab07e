import { connect } from 'node:net';
import { isDeepStrictEqual } from 'node:util';
import { UNIT_LIST } from '../../src/core/units.js';
import { jsonOf } from './json-call.js';
import { partAt, partOf } from './valid-values.js';

export interface Exchange {
  /** The statuses of all answers on the connection. */
  readonly statuses: readonly number[];
  readonly text: string;
  readonly ms: number;
}

const EVENT_STREAM = '\r\nContent-Type: text/event-stream';
/** If the connection stays open for this long without another answer, the last answer is complete. */
const LAST_ANSWER_MS = 50;
/** The effects of a refused act are undone within this time. */
const SETTLED_MS = 2000;

/** A daemon on the simulated robot. Every state that a request could change is known. */
export class RobotTarget {
  /** The number of refused requests after which the state was compared. */
  comparisons = 0;
  readonly #url: string;
  readonly #hangMs: number;
  #before: unknown;
  #inDoubt = false;
  /** The daemon has ended. All later inputs fail for this reason. */
  #crash: Error | undefined;

  /** No answer may take longer than `hangMs`. */
  constructor(url: string, hangMs: number) {
    this.#url = url;
    this.#hangMs = hangMs;
  }

  /** Sends the bytes. Checks that the answer comes in time and reports no defect, and that a refused request changed nothing. */
  async judge(bytes: Buffer, { whole }: { whole: boolean }): Promise<void> {
    if (this.#crash !== undefined) throw this.#crash;
    if (this.#before === undefined) {
      await this.#comeToRest();
      this.#before = await this.#state();
    }
    const { statuses, text, ms } = await this.#exchange(bytes, whole);
    const show = () => `${JSON.stringify(bytes.toString('latin1').slice(0, 600))}\n-> ${text.slice(0, 600)}`;
    await this.#ask('/healthz').catch(cause => {
      this.#crash = new Error(`THE DAEMON ENDED by ${show()}`, { cause });
      throw this.#crash;
    });
    if (whole && statuses.length === 0) throw new Error(`no answer in ${ms.toFixed(0)} ms to ${show()}`);
    for (const status of statuses) {
      if (status >= 500 && status !== 503 && status !== 501) throw new Error(`${status} for ${show()}`);
      if (status === 503 && !text.includes('"code"'))
        throw new Error(`a 503 that is not the robot's for ${show()}`);
    }
    if (ms > this.#hangMs) throw new Error(`${ms.toFixed(0)} ms for ${show()}`);
    const wasInDoubt = this.#inDoubt;
    // A request that was cut off may still take effect.
    this.#inDoubt = bytes.toString('latin1').split('HTTP/1.1').length - 1 > statuses.length;
    // A stop takes effect, whatever its answer.
    const mayChange = statuses.some(status => status < 300) || bytes.includes('/api/stop');
    if (mayChange || wasInDoubt || this.#inDoubt) this.#before = undefined;
    else await this.#unchanged(show);
  }

  async #unchanged(show: () => string): Promise<void> {
    this.comparisons += 1;
    const untilMs = performance.now() + SETTLED_MS;
    for (;;) {
      const after = await this.#state();
      if (isDeepStrictEqual(after, this.#before)) return;
      if (performance.now() < untilMs) continue;
      throw new Error(
        `refused, and yet ${JSON.stringify(this.#before)} became ${JSON.stringify(after)} by ${show()}`,
      );
    }
  }

  /** The lasting state, from status and from the simulated hardware. */
  async #state(): Promise<unknown> {
    const [status, truth] = await Promise.all([this.#ask('/api/status'), this.#ask('/sim/state')]);
    const units = UNIT_LIST.map(({ name }) => {
      const { mode, excitation } = partAt(status, name);
      const { mode: its, stopped, gains } = partAt(truth, name);
      const { revision } = partAt(status, name, 'gains');
      return { mode, excitation, revision, its, stopped, gains };
    });
    const { stopped } = partOf(status);
    const { phase, revision: matchRevision, lock, lease } = partAt(status, 'match');
    const match = { phase, matchRevision, lock, lease };
    return {
      stopped,
      match,
      laser: partAt(status, 'laser').state,
      light: partAt(truth, 'laser').level,
      units,
    };
  }

  /**
   * Ends lock and phase, because either would forbid every later request. A trial or a tuning ends when its lease
   * expires.
   */
  async #comeToRest(): Promise<void> {
    const { phase, id, revision, lock } = partOf(await this.#ask('/api/match'));
    if (lock !== null) await this.#ask('/api/match/unlock', 'POST');
    if (phase !== 'none')
      await this.#ask('/api/match', 'POST', { id, revision: Number(revision) + 1, phase: 'none' });
    const status = await this.#ask('/api/status');
    for (const { name: unit } of UNIT_LIST) {
      const { tune } = partOf(await this.#ask(`/api/${unit}/autotune`));
      if (partOf(tune).state === 'running') await this.#ask(`/api/${unit}/autotune`, 'DELETE');
      const { trial } = partAt(status, unit, 'gains');
      if (trial !== undefined) await this.#ask(`/api/${unit}/pidconfig/trial`, 'DELETE');
    }
  }

  #ask(path: string, method?: string, body?: unknown): Promise<unknown> {
    return jsonOf(this.#url, path, method, body);
  }

  /** Resolves with everything received until the server closes, or until a pause after the last answer. */
  #exchange(bytes: Buffer, whole: boolean): Promise<Exchange> {
    const startMs = performance.now();
    const { port, hostname: host } = new URL(this.#url);
    return new Promise(resolve => {
      const socket = connect({ port: Number(port), host });
      let text = '';
      const end = () => {
        clearTimeout(patience);
        socket.destroy();
        const statuses = [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(match => Number(match[1]));
        resolve({
          statuses: statuses.filter(status => status >= 200),
          text,
          ms: performance.now() - startMs,
        });
      };
      let patience = setTimeout(end, this.#hangMs + 100);
      socket.on('error', () => undefined);
      socket.on('close', end);
      socket.on('data', part => {
        text += part.toString('latin1');
        clearTimeout(patience);
        // A stream never ends by itself.
        if (text.includes(EVENT_STREAM)) end();
        else patience = setTimeout(end, LAST_ANSWER_MS);
      });
      // Closes its side after an incomplete request, so that the server does not wait for the rest.
      if (whole) socket.write(bytes);
      else socket.end(bytes);
    });
  }
}
