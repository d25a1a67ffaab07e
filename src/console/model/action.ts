import { signal } from '@preact/signals';
import type { Clock, Timer } from '../../core/clock.js';
import { type Outcome, type Refusal, TAKEN_BACK } from '../daemon/request.js';

const SHOWN_MS = { done: 8000, refusal: 10_000 };

/** One act of a person: pending, refused or done. Only the latest run counts. */
export class Action {
  /** The name of the act in the alert strip. */
  readonly title: string;
  /** True while a request is under way. */
  readonly pending = signal(false);
  readonly refusal = signal<Refusal | undefined>(undefined);
  /** The result, in words. */
  readonly done = signal('');
  readonly #clock: Clock;
  #turn = 0;
  #timer: Timer | undefined;

  constructor(clock: Clock, title = '') {
    this.#clock = clock;
    this.title = title;
  }

  async run(request: () => Promise<Outcome<unknown>>, done = ''): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.clear();
    this.pending.value = true;
    const outcome = await request();
    if (turn !== this.#turn) return false;
    this.pending.value = false;
    if ('refusal' in outcome) this.refuse(outcome.refusal);
    else this.say(done);
    return 'body' in outcome;
  }

  say(text: string): void {
    this.#show('done');
    this.done.value = text;
  }

  refuse(refusal: Refusal): void {
    this.#show('refusal');
    if (refusal !== TAKEN_BACK) this.refusal.value = refusal;
  }

  clear(): void {
    this.#timer?.cancel();
    this.done.value = '';
    this.refusal.value = undefined;
  }

  #show(what: keyof typeof SHOWN_MS): void {
    this.clear();
    this.#timer = this.#clock.after(SHOWN_MS[what], () => this.clear());
  }
}

/** Texts for refusals whose detail is written for programs. */
const HERE: Readonly<Record<string, string>> = {
  stopped: 'The robot is stopped.',
  'changed-meanwhile': 'Somebody else saved meanwhile. Check what they changed, then press again.',
};

export function refusalText({ code, detail, errors }: Refusal): string {
  if (code in HERE || errors.length === 0) return HERE[code] ?? detail;
  return errors.map(fault => `${nameOf(fault.pointer)} ${inWords(fault.detail)}.`).join(' ');
}

/** Turns `/speed/kp` into `Speed kp`. */
function nameOf(pointer: string): string {
  const name = pointer.slice(1).replaceAll('/', ' ').replaceAll('_', ' ');
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

export function inWords(fault: string): string {
  return fault.replace('must be <=', 'must be at most').replace('must be >=', 'must be at least');
}
