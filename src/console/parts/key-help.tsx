import { useEffect, useRef } from 'preact/hooks';
import { onKey } from './keys.js';

const KEYS: readonly (readonly [keys: string, what: string])[] = [
  ['Esc', 'stop the robot, and close this list'],
  ['L', 'darken the laser'],
  ['g 1…4, c 1…3', 'choose a loop of the gimbal, of the chassis, and go to its kp'],
  ['↑ ↓', 'one step of the gain; with Shift ten times as much, with Alt a tenth'],
  ['Enter', 'in a gain: try the edits of the unit, without saving them'],
  ['Ctrl Enter', 'keep them: save'],
  ['Ctrl Z', 'undo: what was tried and what is edited'],
  ['?', 'this list'],
];

/** The list that `?` shows. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Not modal: a modal one would keep the mouse from STOP.
  useEffect(() => dialog.current?.show(), []);
  useEffect(() => onKey('escape', () => dialog.current?.close()), []);
  return (
    <dialog ref={dialog} class="card key-help" aria-label="Keys" onClose={onClose}>
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
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}
