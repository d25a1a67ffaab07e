import { defaultGains, type GainSet, type Unit } from '../../core/units.js';
import type { HistoryLine } from '../../schemas/history.js';
import { type Change, difference } from '../model/edits.js';
import type { GainEdits } from '../model/gain-edits.js';
import { loopOf } from '../model/loop-choice.js';
import { clockText } from '../model/numbers.js';
import { Heads, Outcome, Press, scrolls, useAnswer, useModel } from '../parts/parts.js';
import { figuresText } from '../step/figure-table.js';

const SHOWN = 50;

/** A table of the saves, with the time and the changes of each. */
export function Revisions({ gains }: { readonly gains: GainEdits }) {
  const model = useModel();
  const { daemon } = model;
  const { unit } = gains;
  const choice = model.choice.value;
  const revision = model.status.value?.[unit.name].gains.revision;
  const ask = () =>
    daemon.get<readonly HistoryLine[]>(`/api/${unit.name}/pidconfig/history?limit=${SHOWN + 1}`);
  const { answer: saved = [], action } = useAnswer(ask, [revision]);
  return (
    <>
      <Outcome action={action} />
      {revision === 0 && <p class="hint">Nothing was saved yet: the defaults are in force.</p>}
      <div class="history" {...scrolls}>
        <table class="figures" aria-label={`History of the ${unit.title.toLowerCase()}`}>
          <Heads texts={['Revision', 'When', 'Who', 'Loop', 'Gain', 'Before', 'After']} />
          {saved.slice(0, SHOWN).map((one, index) => (
            <tbody key={one.revision}>
              {rowsOf(unit, one, saved[index + 1]?.gains).map(({ field, from, to }, row) => (
                <tr key={field?.pointer ?? ''}>
                  <th scope="row">{row === 0 && one.revision}</th>
                  <td>{row === 0 && <time dateTime={one.savedAt}>{clockText(one.savedAt)}</time>}</td>
                  <td>{row === 0 && model.log.saverOf(unit.name, one.revision)}</td>
                  <td>{field ? loopOf({ unit: unit.name, loop: field.loop }).title : 'no difference'}</td>
                  <td>{field?.gain}</td>
                  <td>{from}</td>
                  <td>{to}</td>
                </tr>
              ))}
              <tr>
                <td colSpan={6}>
                  {choice.unit === unit.name && one.measured?.[choice.loop] && (
                    <small>
                      {loopOf(choice).title}: {figuresText(one.measured[choice.loop])}
                    </small>
                  )}
                </td>
                <td>
                  <Press
                    needs="tune"
                    disabled={index === 0}
                    aria-label={index === 0 ? undefined : `Restore revision ${one.revision}`}
                    run={() => gains.restore(one.revision)}
                  >
                    {index === 0 ? 'Stored' : 'Restore'}
                  </Press>
                </td>
              </tr>
            </tbody>
          ))}
        </table>
      </div>
    </>
  );
}

/** The rows of one revision, one for each changed gain. One row without a field if nothing changed. */
function rowsOf(unit: Unit, { revision, gains }: HistoryLine, before?: GainSet): Partial<Change>[] {
  const from = before ?? (revision === 1 ? defaultGains(unit) : gains);
  const changes = difference(unit, from, gains);
  return changes.length === 0 ? [{}] : changes;
}
