import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { parsedJson } from '../../core/json.js';
import { UNIT_LIST, type Unit, type UnitName, unitNamed } from '../../core/units.js';
import type { KeptProfile, Profile } from '../../schemas/profile.js';
import { importGains } from '../model/edits.js';
import { loopNamed } from '../model/loop-choice.js';
import { gainsText } from '../model/numbers.js';
import { Outcome, offerJson, Press, useAction, useAnswer, useModel } from '../parts/parts.js';

/** Exports and imports all gains and all profiles. Imported gains become edits. Imported profiles are confirmed one by one. */
export function GainsFile() {
  const model = useModel();
  const sets = useSignal<readonly FileProfile[]>([]);
  const picker = useRef<HTMLInputElement>(null);
  const act = useAction();
  const [gimbal, chassis] = [model.gains.gimbal.stored.value?.gains, model.gains.chassis.stored.value?.gains];
  const gains = gimbal && chassis && { gimbal, chassis };

  const save = () => {
    offerJson('trunnion-gains.json', gains);
    act.say('Exported the stored gains, without unsaved edits.');
  };
  const saveProfiles = () =>
    act.run(async () => {
      const outcome = await model.daemon.get('/api/profiles');
      if ('body' in outcome) offerJson('trunnion-profiles.json', outcome.body);
      return outcome;
    });

  async function load(input: HTMLInputElement) {
    const [file] = input.files ?? [];
    if (file === undefined || gains === undefined) return;
    const text = await file.text();
    input.value = '';
    sets.value = profilesIn(parsedJson(text));
    if (sets.value.length > 0) return;
    const imported = importGains(text);
    if ('faults' in imported) {
      const detail = `${file.name} was not imported: ${imported.faults.join('; ')}`;
      act.refuse({ code: 'bad-file', detail, errors: [] });
      return;
    }
    act.say(model.editAll(imported.gains, file.name));
  }

  return (
    <div class="row">
      <Press text="Export" disabled={gains === undefined} run={save} />
      <Press text="Import" disabled={gains === undefined} run={() => picker.current?.click()} />
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        hidden
        aria-label="File of gains"
        onChange={event => void load(event.currentTarget)}
      />
      <Press text="Export profiles" run={saveProfiles} />
      <Outcome action={act} />
      {sets.value.length > 0 && (
        <ul class="profiles" aria-label="Profiles of the file">
          {sets.value.map(one => (
            <ProfileImport key={`${one.unit} ${one.set.name}`} {...one} />
          ))}
        </ul>
      )}
    </div>
  );
}

interface FileProfile {
  readonly unit: UnitName;
  readonly set: Pick<Profile, 'name' | 'note' | 'starred' | 'gains'>;
}

/** The sets in a file of profiles. Empty for any other file. The daemon checks each set. */
function profilesIn(file: unknown): FileProfile[] {
  const { format, ...lists } = Object(file);
  if (!String(format).startsWith('trunnion profiles')) return [];
  return UNIT_LIST.flatMap(({ name: unit }) => {
    const sets: unknown = lists[unit];
    if (!Array.isArray(sets)) return [];
    return sets.map(({ name, note, starred, gains }) => ({ unit, set: { name, note, starred, gains } }));
  });
}

/** One set of a file: what it would change, and a button that keeps it. */
function ProfileImport({ unit, set }: FileProfile) {
  const model = useModel();
  const isKept = useSignal(false);
  const keep = (dryRun: boolean) =>
    model.daemon.post<KeptProfile>(`/api/${unit}/profiles`, { ...set, replace: true, dryRun });
  const { answer: would, action } = useAnswer(() => keep(true), [set]);
  const press = async () => {
    isKept.value = await action.run(() => keep(false), 'Kept.');
  };
  return (
    <li>
      <span>
        {unitNamed(unit).title} <strong>{set.name}</strong>{' '}
        <span class="difference">{would && changesOf(unitNamed(unit), would)}</span>
        <Outcome action={action} />
      </span>
      <Press
        text="Keep"
        needs="tune"
        run={press}
        disabled={would === undefined || isKept.value}
        aria-label={`Keep ${set.name}`}
      />
    </li>
  );
}

function changesOf(unit: Unit, { replaced, difference }: KeptProfile): string {
  const than = replaced === null ? 'from the gains in force' : 'from the one of this name';
  const parts = Object.entries(difference).map(
    ([loop, { before, after }]) =>
      `${loopNamed(unit, loop).title} ${gainsText(before)} → ${gainsText(after)}`,
  );
  return parts.length === 0 ? `no difference ${than}` : `differs ${than}: ${parts.join('; ')}`;
}
