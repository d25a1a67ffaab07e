import { useEffect, useRef } from 'preact/hooks';
import { KEYS, onKey } from './keys.js';

/** The list that `?` shows. It is not modal: a modal one would keep the mouse from STOP. */
export function KeyHelp({ onClose }: { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    dialog.current?.show();
    return onKey('escape', () => dialog.current?.close());
  }, []);
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
