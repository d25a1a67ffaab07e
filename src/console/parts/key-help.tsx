import type { Ref } from 'preact';
import { KEYS } from './page-keys.js';

export function KeyHelp({ dialog }: { readonly dialog: Ref<HTMLDialogElement> }) {
  return (
    <dialog ref={dialog} class="card" aria-label="Keys">
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
