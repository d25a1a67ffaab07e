import { signal } from '@preact/signals';
import { type Outcome, type Refusal, TAKEN_BACK } from './request.js';

/** What became of one press of a person. */
export class Fate {
  /**
   * `dropped`: another press took its place. `expired`: unanswered, or refused for a missing right, for longer than a
   * person may want it.
   */
  readonly state = signal<'pending' | 'done' | 'refused' | 'dropped' | 'expired'>('pending');
  /** Why it was refused. */
  refusal: Refusal | undefined;

  settle(outcome: Outcome<unknown>): void {
    this.refusal = 'refusal' in outcome ? outcome.refusal : undefined;
    this.state.value =
      this.refusal === undefined ? 'done' : this.refusal === TAKEN_BACK ? 'dropped' : 'refused';
  }
}
