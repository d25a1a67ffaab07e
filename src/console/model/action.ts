import { computed, signal } from '@preact/signals';
import type { Clock, Timer } from '../../core/clock.js';
import { Fate, type Outcome, type Refusal } from '../daemon/request.js';

const SHOWN_MS = { done: 8000, refusal: 10_000 };

/** One kind of act, with the fate of its newest press. */
export class Action {
  /** The name of the act in the alert strip. */
  readonly title: string;
  readonly #clock: Clock;
  readonly #fate = signal<Fate | undefined>(undefined);
  /** True until a person has had the time to read the result. */
  readonly #isNews = signal(false);
  #text = '';
  #timer: Timer | undefined;
  /** True while a request is under way. */
  readonly pending = computed(() => this.#fate.value?.state.value === 'pending');
  readonly refusal = computed(() => (this.#shows('refused') ? this.#fate.value?.refusal : undefined));
  /** The result, in words. */
  readonly done = computed(() => (this.#shows('done') ? this.#text : ''));

  constructor(clock: Clock, title = '') {
    this.#clock = clock;
    this.title = title;
  }

  /** If the request is an ask that insists, it writes its result into the fate by itself. */
  async run(request: (fate: Fate) => Promise<Outcome<unknown>>, done = ''): Promise<boolean> {
    const fate = this.#begin(done);
    const outcome = await request(fate);
    if (fate.state.peek() === 'pending') fate.settle(outcome);
    if (this.#fate.peek() !== fate) return false;
    this.#show('body' in outcome ? 'done' : 'refusal');
    return 'body' in outcome;
  }

  say(text: string): void {
    this.#begin(text).settle({ body: undefined });
    this.#show('done');
  }

  refuse(refusal: Refusal): void {
    this.#begin('').settle({ refusal });
    this.#show('refusal');
  }

  /** Forgets the result; if `codes` are given, only a refusal with one of them. */
  clear(codes?: readonly string[]): void {
    const { code } = this.refusal.peek() ?? {};
    const isMeant = codes === undefined || (code !== undefined && codes.includes(code));
    if (isMeant && !this.pending.peek()) this.#fate.value = undefined;
  }

  #begin(text: string): Fate {
    this.#timer?.cancel();
    this.#text = text;
    this.#isNews.value = true;
    const fate = new Fate();
    this.#fate.value = fate;
    return fate;
  }

  #show(what: keyof typeof SHOWN_MS): void {
    this.#timer?.cancel();
    this.#timer = this.#clock.after(SHOWN_MS[what], () => {
      this.#isNews.value = false;
    });
  }

  #shows(state: 'refused' | 'done'): boolean {
    return this.#isNews.value && this.#fate.value?.state.value === state;
  }
}

/** Texts for refusals whose detail is written for programs. */
const HERE: Readonly<Record<string, string>> = {
  stopped: 'The robot is stopped.',
  'too-late': 'It came too late, so it did nothing. Press again.',
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
