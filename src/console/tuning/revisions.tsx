import { defaultGains, type GainSet, type Unit } from '../../core/units.js';
import type { HistoryLine } from '../../schemas/history.js';
import { changeText, difference } from '../model/edits.js';
import type { GainEdits } from '../model/gain-edits.js';
import { loopOf } from '../model/loop-choice.js';
import { clockText } from '../model/numbers.js';
import { Outcome, Press, scrolls, useAnswer, useModel } from '../parts/parts.js';
import { milliseconds, withUnit } from '../step/figure-table.js';

const SHOWN = 50;

/** What was saved, when, and what it changed. */
export function Revisions({ gains }: { readonly gains: GainEdits }) {
  const model = useModel();
  const { daemon } = model;
  const { unit } = gains;
  const revision = model.status.value?.[unit.name].gains.revision;
  const ask = () =>
    daemon.get<readonly HistoryLine[]>(`/api/${unit.name}/pidconfig/history?limit=${SHOWN + 1}`);
  const { answer: saved = [], action } = useAnswer('History', ask, [revision]);
  return (
    <>
      <Outcome action={action} />
      {revision === 0 && <p class="hint">Nothing was saved yet: the defaults are in force.</p>}
      <ol class="revisions" {...scrolls}>
        {saved.slice(0, SHOWN).map((one, index) => (
          <li key={one.revision}>
            <span class="revision">{one.revision}</span>
            <time dateTime={one.savedAt}>{clockText(one.savedAt, new Date())}</time>
            <span class="difference">
              {changesIn(unit, one, saved[index + 1]?.gains)}
              <Figures of={one} unit={unit} />
            </span>
            <Press
              disabled={index === 0 || !model.may('tune')}
              hidden={!model.access.hasRight('tune')}
              aria-label={index === 0 ? undefined : `Restore revision ${one.revision}`}
              run={() =>
                gains.saveBy({
                  what: 'restore',
                  path: 'pidconfig/restore',
                  body: { revision: one.revision },
                  done: `Revision ${one.revision} is running again.`,
                })
              }
            >
              {index === 0 ? 'Stored' : 'Restore'}
            </Press>
          </li>
        ))}
      </ol>
    </>
  );
}

/** What was measured on a revision of the chosen loop. */
function Figures({ of, unit }: { readonly of: HistoryLine; readonly unit: Unit }) {
  const choice = useModel().choice.value;
  const figures = choice.unit === unit.name ? of.measured?.[choice.loop]?.figures : undefined;
  if (figures === undefined) return null;
  const { settlingS, overshootPercent } = figures;
  return (
    <small>
      {loopOf(choice).title}: {milliseconds(settlingS)}, {withUnit(overshootPercent, 1, '%')}
    </small>
  );
}

function changesIn(unit: Unit, { revision, gains }: HistoryLine, before: GainSet | undefined): string {
  const from = before ?? (revision === 1 ? defaultGains(unit) : gains);
  const changes = difference(unit, from, gains).map(change => changeText(unit, change));
  return changes.join('; ') || 'no difference';
}
