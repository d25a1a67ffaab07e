import { UNIT_LIST } from '../../core/units.js';
import type { Model } from '../model/model.js';
import type { UnitGains } from '../model/unit-gains.js';
import { onKey } from './keys.js';

/** A unit's letter and a digit within this time are one command. */
const DIGIT_MS = 1500;

/** Keys that work wherever the focus is. Returns the act that ends them. */
export function listenToKeys(model: Model, onHelp: () => void): () => void {
  let letterAtMs = Number.NEGATIVE_INFINITY;
  let letter = '';
  const ends = [
    onKey('escape', () => model.stop.press()),
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
  const onTuningKey = (event: KeyboardEvent) => {
    const { target } = event;
    const isGain = target instanceof HTMLInputElement && target.id.startsWith('gain-');
    const unit =
      (isGain && UNIT_LIST.find(({ name }) => target.id.startsWith(`gain-${name}-`))?.name) ||
      model.choice.peek().unit;
    const act = tuningAct(event, isGain || target === document.body);
    if (act === undefined || event.repeat || !(act === 'undo' || model.may('tune'))) return;
    event.preventDefault();
    tuneBy(act, model.gains[unit]);
  };
  window.addEventListener('keydown', onDigit, { capture: true });
  window.addEventListener('keydown', onTuningKey);
  return () => {
    for (const end of ends) end();
    window.removeEventListener('keydown', onDigit, { capture: true });
    window.removeEventListener('keydown', onTuningKey);
  };
}

type TuningAct = 'try' | 'keep' | 'undo';

/** Enter alone belongs to whatever has the focus, unless that is a gain or nothing. */
function tuningAct({ key, ctrlKey, metaKey }: KeyboardEvent, isFree: boolean): TuningAct | undefined {
  const withCtrl = ctrlKey || metaKey;
  if (key === 'Enter') return withCtrl ? 'keep' : isFree ? 'try' : undefined;
  return withCtrl && key === 'z' && isFree ? 'undo' : undefined;
}

function tuneBy(act: TuningAct, gains: UnitGains): void {
  if (act === 'try') void gains.try();
  else if (act === 'keep') void gains.save();
  else void gains.undo();
}
