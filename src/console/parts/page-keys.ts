import { UNIT_LIST } from '../../core/units.js';
import type { Model } from '../model/model.js';
import { onKey } from './keys.js';

/** A unit's letter and a digit within this time are one command. */
const DIGIT_MS = 1500;

/** Keys that work wherever the focus is. Returns the act that ends them. */
export function listenToKeys(model: Model, onHelp: () => void): () => void {
  let letterAtMs = Number.NEGATIVE_INFINITY;
  let letter = '';
  const ends = [
    onKey('escape', () => model.pressStop()),
    onKey('l', () => model.laser.darken()),
    onKey('?', onHelp),
    ...UNIT_LIST.map(({ name }) =>
      onKey(name.slice(0, 1), () => {
        [letter, letterAtMs] = [name.slice(0, 1), performance.now()];
      }),
    ),
  ];
  const onDigit = (event: KeyboardEvent) => {
    if (performance.now() - letterAtMs > DIGIT_MS) return;
    const unit = UNIT_LIST.find(({ name }) => name.startsWith(letter));
    const loop = unit?.loops[Number(event.key) - 1];
    if (unit === undefined || loop === undefined) return;
    event.preventDefault();
    letterAtMs = Number.NEGATIVE_INFINITY;
    model.choice.value = { unit: unit.name, loop: loop.name };
    requestAnimationFrame(() => {
      const field = document.querySelector(`#gain-${unit.name}-${loop.name}-kp`);
      if (!(field instanceof HTMLInputElement)) return;
      field.focus();
      field.select();
    });
  };
  window.addEventListener('keydown', onDigit, { capture: true });
  return () => {
    for (const end of ends) end();
    window.removeEventListener('keydown', onDigit, { capture: true });
  };
}
