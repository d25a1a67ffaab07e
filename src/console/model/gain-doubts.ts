import { computed, type ReadonlySignal, signal } from '@preact/signals';
import type { Clock } from '../../core/clock.js';
import type { Unit } from '../../core/units.js';
import { type Change, changeText, type EditTexts, isDrastic } from './edits.js';

/** Asks for a second press of this button, because of these changes. */
interface Question {
  readonly act: 'Try' | 'Keep';
  readonly about: string;
  readonly atMs: number;
}

/** A sooner press is no answer: it may be the second half of a double press. */
const READ_MS = 500;

interface Edited {
  readonly changes: readonly Change[];
  readonly texts: EditTexts;
}

/** Asks for a second press before gains run or are saved that a person has typed far from the stored ones. */
export class GainDoubts {
  readonly #clock: Clock;
  readonly #edited: ReadonlySignal<Edited>;
  /** Texts that need no second press: they were not typed here, or the person has confirmed them. */
  readonly #trusted = signal<EditTexts>({});
  /** The drastic changes that need a second press, in words. */
  readonly #about: ReadonlySignal<string>;
  readonly #asked = signal<Question | undefined>(undefined);

  constructor(unit: Unit, clock: Clock, edited: ReadonlySignal<Edited>) {
    this.#clock = clock;
    this.#edited = edited;
    this.#about = computed(() => {
      const { changes, texts } = edited.value;
      const isTrusted = ({ field: { pointer } }: Change) => this.#trusted.value[pointer] === texts[pointer];
      return changes
        .filter(change => isDrastic(unit, change) && !isTrusted(change))
        .map(change => changeText(unit, change))
        .join('; ');
    });
  }

  /** The question that the next press of its button answers. */
  get question(): Question | undefined {
    const asked = this.#asked.value;
    return asked?.about === this.#about.value ? asked : undefined;
  }

  /** Returns whether this press may act. If not, there is a question now. */
  mayAct(act: Question['act']): boolean {
    const [atMs, about, asked] = [this.#clock.nowMs(), this.#about.value, this.question];
    if (about === '') return true;
    const isAnswer = asked?.act === act && atMs - asked.atMs >= READ_MS;
    if (isAnswer) {
      this.trust();
      this.#asked.value = undefined;
    } else if (asked?.act !== act) this.#asked.value = { act, about, atMs };
    return isAnswer;
  }

  /** Trusts the present texts of the fields whose pointers begin so. */
  trust(start = ''): void {
    const texts = Object.entries(this.#edited.value.texts).filter(([pointer]) => pointer.startsWith(start));
    this.#trusted.value = { ...this.#trusted.value, ...Object.fromEntries(texts) };
  }

  /** Call this when a text was typed. An older question is no longer asked. */
  distrust(pointer: string): void {
    const { [pointer]: _, ...others } = this.#trusted.value;
    this.#trusted.value = others;
    this.#asked.value = undefined;
  }
}
