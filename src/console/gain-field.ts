import type { Unit } from '../core/units.js';
import { element, setAttribute, setText } from './dom.js';
import { type Field, storedValue } from './edits.js';
import type { Model } from './model.js';
import { parseGain, stepped } from './numbers.js';
import type { Panel } from './panel.js';

/** Whether the buttons of all fields take fine steps. */
export interface StepSize {
  fine: boolean;
}

const ARROWS: Readonly<Record<string, 1 | -1>> = { ArrowUp: 1, ArrowDown: -1 };

/** One gain: typed, or changed in steps; what is stored stands below as long as the field says something else. */
export function createGainField(unit: Unit, field: Field, model: Model, size: StepSize): Panel {
  const loop = unit.loops.find(({ name }) => name === field.loop);
  const name = `${loop?.title ?? field.loop} ${field.gain}`;
  const noteId = `note-${unit.name}${field.pointer.replaceAll('/', '-')}`;
  const input = element('input', {
    type: 'text',
    inputmode: 'decimal',
    autocomplete: 'off',
    spellcheck: 'false',
    'aria-label': name,
    'aria-describedby': noteId,
    oninput: () => model.edit(unit.name, field.pointer, input.value),
    onchange: () => model.tidy(unit.name),
    onblur: () => update(),
    onkeydown: event => {
      if (!(event instanceof KeyboardEvent)) return;
      const direction = ARROWS[event.key];
      if (direction === undefined) return;
      event.preventDefault();
      step(direction, event.shiftKey);
    },
  });
  const note = element('span', { class: 'note', id: noteId });
  const button = (direction: 1 | -1, sign: string, verb: string) =>
    element(
      'button',
      {
        type: 'button',
        tabindex: -1,
        'aria-label': `${verb} ${name}`,
        onclick: event => step(direction, event instanceof MouseEvent && event.shiftKey),
      },
      sign,
    );
  const box = element('div', { class: 'stepper' }, button(-1, '−', 'Lower'), input, button(1, '+', 'Raise'));
  const cell = element('div', { class: 'gain' }, box, note);

  function step(direction: 1 | -1, fine: boolean): void {
    const parsed = parseGain(input.value);
    if ('fault' in parsed) return;
    input.value = String(stepped(parsed.value, direction, fine !== size.fine));
    model.edit(unit.name, field.pointer, input.value);
  }

  function update(): void {
    const { stored, texts, refused } = model.units[unit.name];
    const text = texts[field.pointer];
    const { changes, faults } = model.editsOf(unit.name);
    const change = changes.find(one => one.field.pointer === field.pointer);
    const fault = faults[field.pointer] ?? refused[field.pointer];
    const told = text ?? (stored === undefined ? '' : String(storedValue(stored, field)));
    if (document.activeElement !== input && input.value !== told) input.value = told;
    if (text === undefined && document.activeElement === input && parsesTo(input.value) !== parsesTo(told)) {
      input.value = told;
    }
    input.disabled = stored === undefined;
    setAttribute(
      cell,
      'data-state',
      fault !== undefined ? 'fault' : change !== undefined ? 'edited' : 'stored',
    );
    setAttribute(input, 'aria-invalid', fault !== undefined ? 'true' : undefined);
    setText(note, fault ?? (change === undefined ? '' : `stored ${change.from}`));
  }
  return { element: cell, update };
}

function parsesTo(text: string): number | undefined {
  const parsed = parseGain(text);
  return 'value' in parsed ? parsed.value : undefined;
}
