import { UNIT_LIST } from '../core/units.js';
import { element, setAttribute } from './dom.js';
import { keyOf, type LoopChoice } from './loop-choice.js';
import type { Model } from './model.js';
import type { Panel } from './panel.js';

/** One press for each loop. */
export function createLoopChooser(model: Model): Panel {
  const chips: { key: string; button: HTMLElement }[] = [];
  const chip = (choice: LoopChoice, title: string) => {
    const button = element('button', { type: 'button', onclick: () => model.choose(choice) }, title);
    chips.push({ key: keyOf(choice), button });
    return button;
  };
  const groups = UNIT_LIST.map(({ name, title, loops }) =>
    element(
      'div',
      { class: 'chips', role: 'group', 'aria-label': `Plotted loop of the ${title.toLowerCase()}` },
      element('span', { class: 'unit-name' }, title),
      ...loops.map(loop => chip({ unit: name, loop: loop.name }, loop.title)),
    ),
  );
  return {
    element: element('div', { class: 'loop-chooser' }, ...groups),
    update() {
      const chosen = keyOf(model.choice);
      for (const { key, button } of chips) setAttribute(button, 'aria-pressed', String(key === chosen));
    },
  };
}
