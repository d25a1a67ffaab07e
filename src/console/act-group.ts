import { type Outcome, refusalOf } from './api.js';
import { element } from './dom.js';
import { Notice } from './notice.js';

/** Controls that belong together, with the line that says how the last act of theirs went. */
export class ActGroup {
  readonly element: HTMLElement;
  readonly #notice = new Notice();
  readonly #update: () => void;
  #pending: { readonly what: string } | undefined;

  constructor(name: string, className: string, update: () => void) {
    this.#update = update;
    this.element = element('div', { class: `group ${className}`, role: 'group', 'aria-label': name });
  }

  /** The act under way. */
  get pending(): string | undefined {
    return this.#pending?.what;
  }

  fill(...children: readonly (Node | string)[]): void {
    this.element.append(...children, this.#notice.element);
  }

  /** The last act that was begun has the say. */
  async act(what: string, request: () => Promise<Outcome<unknown>>): Promise<void> {
    const mine = { what };
    this.#pending = mine;
    this.#notice.clear();
    this.#update();
    const refusal = refusalOf(await request());
    if (this.#pending !== mine) return;
    this.#pending = undefined;
    if (refusal !== undefined) this.#notice.refuse(refusal);
    this.#update();
  }
}
