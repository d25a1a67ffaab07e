import { signal } from '@preact/signals';
import type { Session } from '../daemon/daemon.js';
import { type Outcome, SESSION } from '../daemon/request.js';
import { Action } from './action.js';
import { Part } from './whole.js';

/** Knows who uses this page, and which rights they have. */
export class Access extends Part {
  /** Undefined until the daemon has answered. A daemon without tokens gives all rights. */
  readonly session = signal<Session | undefined>(undefined);
  readonly action = new Action(this.whole.clock, 'Session');
  /** The number of session requests so far, and the number of the newest one that was answered. */
  #asked = 0;
  #answered = 0;

  hasRight(right: 'drive' | 'tune' | 'rule'): boolean {
    return this.session.value?.rights.includes(right) ?? true;
  }

  /** True if the caller may not read. The page then shows the login. */
  get isShut(): boolean {
    const session = this.session.value;
    return session !== undefined && session.access !== 'open' && !session.rights.includes('read');
  }

  /** Asks the daemon who is logged in. Returns whether the daemon answered. */
  async refresh(): Promise<boolean> {
    this.#asked += 1;
    const turn = this.#asked;
    const outcome = await this.whole.daemon.get<Session>(SESSION);
    if ('body' in outcome) this.#take(outcome.body, turn);
    return 'body' in outcome;
  }

  enter(token: string): Promise<boolean> {
    return this.#become(() => this.whole.daemon.post(SESSION, { token }));
  }

  leave(): Promise<boolean> {
    return this.#become(() => this.whole.daemon.delete(SESSION));
  }

  /** Sends a login or a logout. Its answer counts as newer than the answer to any earlier session request. */
  async #become(request: () => Promise<Outcome<Session>>): Promise<boolean> {
    const isDone = await this.action.run(async () => {
      const outcome = await request();
      this.#asked += 1;
      if ('body' in outcome) this.#take(outcome.body, this.#asked);
      return outcome;
    });
    if (!isDone) await this.refresh();
    return isDone;
  }

  #take(session: Session, turn: number): void {
    if (turn < this.#answered) return;
    this.#answered = turn;
    this.session.value = session;
    this.whole.daemon.heard();
  }
}
