import type { Signal } from '@preact/signals';
import { UNIT_LIST, type Unit } from '../../core/units.js';
import type { Model } from '../model/model.js';
import { Press } from './parts.js';

/** A unit's letter and a digit within this time are one command. */
const DIGIT_MS = 1500;

/** What the list of keys says. */
export const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Esc', 'stop the robot'],
  ['L', 'darken the laser'],
  ['g 1…4, c 1…3', 'choose a loop of the gimbal, of the chassis, and go to its kp'],
  ['↑ ↓', 'one step of the gain; with Shift ten times as much, with Alt a tenth'],
  ['Enter', 'in a gain: try the edits of the unit, without saving them'],
  ['Ctrl Enter', 'keep them: save'],
  ['Ctrl Z', 'undo: what was tried and what is edited'],
  ['?', 'this list'],
  ['on a plot', 'drag or turn the wheel to zoom, press to pick a moment, press twice to go back'],
];

/** Keys that work wherever the focus is. Returns the function that ends them. */
export function listenToKeys(model: Model, helps: Signal<boolean>): () => void {
  let [letter, letterAtMs] = ['', Number.NEGATIVE_INFINITY];
  const chooseUnit = ({ key, timeStamp }: KeyboardEvent) => {
    [letter, letterAtMs] = [key.toLowerCase(), timeStamp];
  };
  const ends = [
    onKey('escape', () => model.pressStop()),
    onKey('l', () => model.laser.darken()),
    onKey('?', () => {
      helps.value = true;
    }),
    ...UNIT_LIST.map(({ name }) => onKey(name.slice(0, 1), chooseUnit)),
    listen(event => {
      const unit = UNIT_LIST.find(({ name }) => letter !== '' && name.startsWith(letter));
      if (unit === undefined || event.timeStamp - letterAtMs > DIGIT_MS) return;
      if (chooseLoop(model, unit, Number(event.key))) {
        event.preventDefault();
        letter = '';
      }
    }),
  ];
  return () => {
    for (const end of ends) end();
  };
}

/** Whether there is such a loop. */
function chooseLoop(model: Model, unit: Unit, digit: number): boolean {
  const loop = unit.loops[digit - 1];
  if (loop === undefined) return false;
  model.choose({ unit: unit.name, loop: loop.name });
  requestAnimationFrame(() => {
    const field = document.querySelector(`#gain-${unit.name}-${loop.name}-kp`);
    if (!(field instanceof HTMLInputElement)) return;
    field.focus();
    field.select();
  });
  return true;
}

/**
 * Keys of the gains, where gains are shown. Enter alone belongs to whatever has the focus: elsewhere it may be the second
 * press on a button that ended a trial. Returns the function that ends them.
 */
export function listenToTuningKeys(model: Model): () => void {
  const listener = (event: KeyboardEvent) => {
    const { target, key, repeat } = event;
    const withCtrl = event.ctrlKey || event.metaKey;
    const field = target instanceof HTMLInputElement && target.id.startsWith('gain-') && target.id;
    const unit = field && UNIT_LIST.find(({ name }) => field.startsWith(`gain-${name}-`));
    const gains = model.gains[unit ? unit.name : model.choice.peek().unit];
    const undoes = withCtrl && key === 'z' && (field || target === document.body);
    const tunes = key === 'Enter' && (withCtrl || field) && model.may('tune');
    if (repeat || !(undoes || tunes)) return;
    event.preventDefault();
    void (undoes ? gains.undo() : withCtrl ? gains.save() : gains.try());
  };
  window.addEventListener('keydown', listener);
  return () => window.removeEventListener('keydown', listener);
}

/** A key that works wherever the focus is, except letters in a field of text. Returns the function that ends it. */
export function onKey(key: string, act: (event: KeyboardEvent) => void): () => void {
  return listen(event => {
    if (event.key.toLowerCase() !== key || event.ctrlKey || event.metaKey || event.altKey) return;
    if (key.length === 1 && takesLetters(event.target)) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) act(event);
  });
}

/** Fields of numbers need no letters. */
function takesLetters(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('[type=password], [type=text]:not([inputmode=decimal])');
}

function listen(act: (event: KeyboardEvent) => void): () => void {
  window.addEventListener('keydown', act, { capture: true });
  return () => window.removeEventListener('keydown', act, { capture: true });
}

/** The list that `?` shows. It is not modal: a modal one would keep the mouse from STOP. */
export function KeyHelp({ helps }: { readonly helps: Signal<boolean> }) {
  const close = () => {
    helps.value = false;
  };
  return (
    <dialog open class="card key-help" aria-label="Keys">
      <h2>Keys</h2>
      <table>
        <tbody>
          {KEYS.map(([keys, what]) => (
            <tr key={keys}>
              <th scope="row">{keys}</th>
              <td>{what}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Press run={close}>Close</Press>
    </dialog>
  );
}
