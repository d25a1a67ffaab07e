import type { Refusal } from './api.js';
import { element, setAttribute, setText } from './dom.js';

const SHOWN_MS = { done: 8000, refusal: 20_000 };

/** What a person at this page does about it, where the daemon speaks to programs. */
const HERE: Readonly<Record<string, string>> = {
  stopped: 'The robot is stopped. Press Resume first.',
};

/** A line that tells how an act went, beside the thing it was about. */
export class Notice {
  readonly element = element('p', { class: 'notice', role: 'status', hidden: true });
  #timer = 0;

  say(text: string, kind: 'refusal' | 'done' | 'pending' = 'done'): void {
    clearTimeout(this.#timer);
    setAttribute(this.element, 'class', `notice ${kind}`);
    setAttribute(this.element, 'role', kind === 'refusal' ? 'alert' : 'status');
    setAttribute(this.element, 'hidden', false);
    setText(this.element, text);
    if (kind !== 'pending') this.#timer = window.setTimeout(() => this.clear(), SHOWN_MS[kind]);
  }

  refuse(refusal: Refusal): void {
    this.say(HERE[refusal.code] ?? refusal.detail, 'refusal');
  }

  clear(): void {
    clearTimeout(this.#timer);
    setText(this.element, '');
    setAttribute(this.element, 'hidden', true);
  }
}
