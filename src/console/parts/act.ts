import { signal } from '@preact/signals';
import type { Outcome, Refusal } from '../daemon/request.js';

const SHOWN_MS = { done: 8000, refusal: 20_000 };

/** Something that a person asks for: under way, refused or done. What was asked last has the say. */
export class Act {
  /** What this is about, for people. */
  readonly title: string;
  /** The request under way. */
  readonly pending = signal<string | undefined>(undefined);
  readonly refusal = signal<Refusal | undefined>(undefined);
  /** What was done, in words. */
  readonly done = signal('');
  #turn = 0;
  #timer = 0;
  readonly #lasts: boolean;

  /** A refusal goes after a while; one that `lasts` stands until it is cleared. */
  constructor(title: string, lasts = false) {
    this.title = title;
    this.#lasts = lasts;
  }

  async run(what: string, request: () => Promise<Outcome<unknown>>, done = ''): Promise<boolean> {
    this.#turn += 1;
    const turn = this.#turn;
    this.clear();
    this.pending.value = what;
    const outcome = await request();
    if (turn !== this.#turn) return false;
    this.pending.value = undefined;
    if ('refusal' in outcome) this.refuse(outcome.refusal);
    else this.say(done);
    return 'body' in outcome;
  }

  say(text: string): void {
    this.clear();
    this.done.value = text;
    this.#timer = window.setTimeout(() => this.clear(), SHOWN_MS.done);
  }

  refuse(refusal: Refusal): void {
    this.clear();
    if (refusal.code === 'overtaken') return;
    this.refusal.value = refusal;
    if (!this.#lasts) this.#timer = window.setTimeout(() => this.clear(), SHOWN_MS.refusal);
  }

  clear(): void {
    clearTimeout(this.#timer);
    this.done.value = '';
    this.refusal.value = undefined;
  }
}

/** What a person at this page does about a refusal, where the daemon speaks to programs. */
const HERE: Readonly<Record<string, string>> = {
  stopped: 'The robot is stopped. Press Resume first.',
  'changed-meanwhile':
    'Someone else saved meanwhile. Look at what changed, decide where you are asked, then press again.',
};

export function refusalText({ code, detail, errors }: Refusal): string {
  if (code in HERE || errors.length === 0) return HERE[code] ?? detail;
  return errors.map(fault => `${nameOf(fault.pointer)} ${inWords(fault.detail)}.`).join(' ');
}

/** `/speed/kp` is Speed kp to people. */
function nameOf(pointer: string): string {
  const name = pointer.slice(1).replaceAll('/', ' ').replaceAll('_', ' ');
  return name.slice(0, 1).toUpperCase() + name.slice(1);
}

export function inWords(fault: string): string {
  return fault.replace('must be <=', 'must be at most').replace('must be >=', 'must be at least');
}
