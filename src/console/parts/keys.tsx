import type { Signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { UNIT_LIST } from '../../core/units.js';
import type { LoopChoice } from '../model/loop-choice.js';
import type { Model } from '../model/model.js';
import { Press, writes } from './parts.js';

/** A unit's letter and a digit within this time form one command. */
const DIGIT_MS = 1500;

/** The texts of the list of keys. */
const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Esc', 'stop the robot, whatever has the focus; closes this list too'],
  ['L', 'switch the laser off'],
  ['W A S D', 'drive the chassis while held'],
  ['← ↑ ↓ →', 'aim the gimbal while held, outside of fields'],
  ['g 1…4, c 1…3', 'choose a loop of the gimbal, of the chassis, and go to its kp'],
  ['↑ ↓', 'change the gain by one step, with Shift by ten, with Alt by a tenth'],
  ['Enter', 'in a gain: try the edited gains without saving them'],
  ['Ctrl Enter', 'save the edited gains'],
  ['Ctrl Z', 'end the trial and discard the edits'],
  ['?', 'show or close this list'],
  ['on a plot', 'drag or turn the wheel to zoom, press to choose a time, press twice to zoom out'],
];

/** Keys that press a button of the gains. The button's `aria-keyshortcuts` has the same keys in capitals. */
const GAIN_KEYS = ['enter', 'control+enter', 'control+z'];

/** Listens to keys, wherever the focus is. */
export function listenToKeys(model: Model, helps: Signal<boolean>): void {
  let [letter, letterAtMs] = ['', Number.NEGATIVE_INFINITY];
  const actOf = (event: KeyboardEvent): (() => void) | undefined => {
    const { target, timeStamp } = event;
    const key = event.key.toLowerCase();
    const keys = event.ctrlKey || event.metaKey ? `control+${key}` : key;
    if (GAIN_KEYS.includes(keys)) return gainAct(keys, target);
    if (keys !== key || event.altKey) return undefined;
    if (key === 'escape')
      return () => {
        model.pressStop();
        helps.value = false;
      };
    if (takesLetters(target)) return undefined;
    if (key === 'l') return () => model.laser.darken();
    if (key === '?') return writes(helps, !helps.peek());
    const lettered = UNIT_LIST.find(({ name }) => name.startsWith(letter));
    const loop = timeStamp - letterAtMs < DIGIT_MS ? lettered?.loops[Number(key) - 1] : undefined;
    if (loop !== undefined)
      return () => {
        letterAtMs = Number.NEGATIVE_INFINITY;
        goTo(model, { unit: loop.unit, loop: loop.name });
      };
    if (!UNIT_LIST.some(({ name }) => name.startsWith(key))) return undefined;
    return () => {
      [letter, letterAtMs] = [key, timeStamp];
    };
  };
  const listener = (event: KeyboardEvent) => {
    const act = actOf(event);
    if (act === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    if (!event.repeat) act();
  };
  window.addEventListener('keydown', listener, { capture: true });
}

/**
 * Presses a button in the card of the focused gain. If no gain has the focus, in the card of the chosen unit.
 */
function gainAct(keys: string, target: EventTarget | null): (() => void) | undefined {
  const field = target instanceof HTMLInputElement && target.id.startsWith('gain-') ? target : undefined;
  // Outside the fields of gains, Enter only presses the focused button. Otherwise a second Enter on a button that
  // ended a trial could begin another one.
  if (field === undefined && (keys === 'enter' || (keys === 'control+z' && target !== document.body)))
    return undefined;
  const card = field?.closest('.unit') ?? document.querySelector('.unit[data-chosen]');
  const button = card?.querySelector<HTMLElement>(`[aria-keyshortcuts="${keys}" i]`);
  return button ? () => button.click() : undefined;
}

function goTo(model: Model, choice: LoopChoice): void {
  model.choose(choice);
  requestAnimationFrame(() => {
    const field = document.querySelector(`#gain-${choice.unit}-${choice.loop}-kp`);
    if (!(field instanceof HTMLInputElement)) return;
    field.focus();
    field.select();
  });
}

/** Number fields need no letters, so letters are commands there too. */
function takesLetters(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('[type=password], [type=text]:not([inputmode=decimal])');
}

/** The list that `?` shows. It is not modal, because a modal list would block clicks on STOP. */
export function KeyHelp({ helps }: { readonly helps: Signal<boolean> }) {
  const list = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    list.current?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog open ref={list} tabIndex={-1} class="card key-help" aria-label="Keys">
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
      <Press text="Close" run={writes(helps, false)} />
    </dialog>
  );
}
