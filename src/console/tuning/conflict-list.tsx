import { changeText } from '../model/edits.js';
import { settle } from '../model/settle.js';
import type { UnitGains } from '../model/unit-gains.js';

/** Loops that somebody else saved while they were edited here: one of the two has to give way. */
export function ConflictList({ gains }: { readonly gains: UnitGains }) {
  return (
    <ul class="conflicts" aria-label="Changed meanwhile">
      {gains.conflicts.value.map(({ loop, theirs }) => (
        <li key={loop}>
          Changed meanwhile by someone else: {theirs.map(change => changeText(gains.unit, change)).join('; ')}
          <span class="acts">
            <button type="button" onClick={() => settle(gains, loop, 'mine')}>
              Keep mine
            </button>
            <button type="button" onClick={() => settle(gains, loop, 'theirs')}>
              Take theirs
            </button>
          </span>
        </li>
      ))}
    </ul>
  );
}
