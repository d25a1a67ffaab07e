import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { MeasuredProfile } from '../../schemas/profile.js';
import type { GainEdits } from '../model/gain-edits.js';
import { clockText } from '../model/numbers.js';
import { Outcome, Press, typed, useAction, useAnswer, useModel } from '../parts/parts.js';
import { Compare } from './compare.js';

/** Named sets of one unit's gains: kept, starred, loaded, and compared with one another and with revisions. */
export function Profiles({ gains }: { readonly gains: GainEdits }) {
  const model = useModel();
  const { daemon } = model;
  const { name: unit } = gains.unit;
  const path = `/api/${unit}/profiles`;
  const act = useAction();
  /** Counts changes. Each one makes the page fetch the list again. */
  const changes = useSignal(0);
  const ask = () => daemon.get<readonly MeasuredProfile[]>(path);
  const { answer: list = [], action: listing } = useAnswer(ask, [changes.value]);
  const [name, note] = [useSignal(''), useSignal('')];
  /** The name in the latest request. Replace uses this name, and not the text in the field. */
  const asked = useRef('');
  const change = async (where: string, body: object, done = '') => {
    if (await act.run(() => daemon.post(path + where, body), done)) changes.value += 1;
  };
  const keep = (replace: boolean) => {
    if (!replace) asked.current = name.value.trim();
    const wanted = { name: asked.current, note: note.value.trim(), replace };
    return change('', wanted, `The gains in force are kept as ${wanted.name}.`);
  };
  const profiles = list.map(({ profile }) => profile);
  const starredFirst = [...profiles].sort((one, other) => Number(other.starred) - Number(one.starred));
  return (
    <>
      <form class="row" hidden={!model.access.hasRight('tune')}>
        <input {...typed(name)} maxLength={40} aria-label="Name of the profile" placeholder="carpet" />
        <input {...typed(note)} maxLength={400} aria-label="Note" placeholder="note" />
        <Press text="Save as" type="submit" needs="tune" run={() => keep(false)} />
        {act.refusal.value?.code === 'profile-exists' && (
          <Press text="Replace it" needs="tune" run={() => keep(true)} />
        )}
      </form>
      <Outcome action={act} />
      <Outcome action={listing} />
      <ol class="profiles">
        {starredFirst.map(profile => (
          <li key={profile.name}>
            <Press
              text="★"
              aria-label={`Star ${profile.name}`}
              pressed={profile.starred}
              about={String(profile.starred)}
              disabled={!model.may('tune')}
              run={() => change('/star', { name: profile.name, starred: !profile.starred })}
            />
            <span>
              <strong>{profile.name}</strong> <time>{clockText(profile.savedAt)}</time>
              <span class="difference"> {profile.note}</span>
            </span>
            <span class="row">
              <Press
                text="Load"
                needs="tune"
                aria-label={`Load ${profile.name}`}
                run={() => gains.loadProfile(profile.name)}
              />
              <Press
                text="Remove"
                needs="tune"
                aria-label={`Remove ${profile.name}`}
                run={() => change('/remove', { name: profile.name }, `${profile.name} is gone.`)}
              />
            </span>
          </li>
        ))}
      </ol>
      <Compare unit={gains.unit} names={starredFirst.map(profile => profile.name)} />
    </>
  );
}
