import type { Refusal } from './api.js';
import { element, setAttribute, setText } from './dom.js';

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
    if (kind === 'done') this.#timer = window.setTimeout(() => this.clear(), 6000);
  }

  refuse(refusal: Refusal): void {
    this.say(refusal.detail, 'refusal');
  }

  clear(): void {
    clearTimeout(this.#timer);
    setText(this.element, '');
    setAttribute(this.element, 'hidden', true);
  }
}
