import { defaultGains, type GainSet, type Unit } from '../../core/units.js';
import type { HistoryLine } from '../../schemas/history.js';
import { changeText, difference } from '../model/edits.js';
import type { GainEdits } from '../model/gain-edits.js';
import { loopOf } from '../model/loop-choice.js';
import { clockText, figuresText } from '../model/numbers.js';
import { Outcome, Press, scrolls, useAnswer, useModel } from '../parts/parts.js';

const SHOWN = 50;

/** The saves, with time, caller and changes of each. */
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
      <ol class="profiles history" aria-label={`History of the ${unit.title.toLowerCase()}`} {...scrolls}>
        {saved.slice(0, SHOWN).map((one, index) => (
          <li key={one.revision}>
            <span>
              <strong>{one.revision}</strong> <time dateTime={one.savedAt}>{clockText(one.savedAt)}</time>{' '}
              {one.by} {one.profile && `loaded ${one.profile}`}
              {changesOf(unit, one, saved[index + 1]?.gains).map(text => (
                <small key={text}>{text}</small>
              ))}
              {choice.unit === unit.name && one.measured?.[choice.loop] && (
                <small class="dim">
                  {loopOf(choice).title}: {figuresText(one.measured[choice.loop])}
                </small>
              )}
            </span>
            <Press
              text={index === 0 ? 'Stored' : 'Restore'}
              needs="tune"
              disabled={index === 0}
              aria-label={index === 0 ? undefined : `Restore revision ${one.revision}`}
              run={() => gains.restore(one.revision)}
            />
          </li>
        ))}
      </ol>
    </>
  );
}

/** What a revision changed. */
function changesOf(unit: Unit, { revision, gains }: HistoryLine, before?: GainSet): string[] {
  const changes = difference(unit, before ?? (revision === 1 ? defaultGains(unit) : gains), gains);
  return changes.length === 0 ? ['no difference'] : changes.map(change => changeText(unit, change));
}
