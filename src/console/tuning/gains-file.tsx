import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { UNIT_LIST, type Unit, type UnitName, unitNamed } from '../../core/units.js';
import type { KeptProfile, Profile } from '../../schemas/profile.js';
import { type AllGains, difference, exportGains, importGains, textsOf } from '../model/edits.js';
import { Outcome, offerFile, Press, useAction, useModel } from '../parts/parts.js';
import { gainsText } from '../step/figure-table.js';

/** Exports and imports all gains and all profiles. Imported gains become edits. Imported profiles are confirmed one by one. */
export function GainsFile() {
  const model = useModel();
  const { daemon } = model;
  const sets = useSignal<ReturnType<typeof setsIn>>([]);
  const picker = useRef<HTMLInputElement>(null);
  const act = useAction('File');
  const [gimbal, chassis] = [model.gains.gimbal.stored.value?.gains, model.gains.chassis.stored.value?.gains];
  const gains: AllGains | undefined = gimbal && chassis && { gimbal, chassis };

  function save() {
    if (gains === undefined) return;
    offerFile('trunnion-gains.json', 'application/json', exportGains(gains));
    act.say('Exported the stored gains, without unsaved edits.');
  }

  async function saveProfiles() {
    await act.run('profiles', async () => {
      const outcome = await daemon.allProfiles();
      if ('body' in outcome) {
        const text = `${JSON.stringify(outcome.body, null, 2)}\n`;
        offerFile('trunnion-profiles.json', 'application/json', text);
      }
      return outcome;
    });
  }

  async function load(input: HTMLInputElement) {
    const [file] = input.files ?? [];
    if (file === undefined || gains === undefined) return;
    const text = await file.text();
    input.value = '';
    sets.value = setsIn(text);
    if (sets.value.length > 0) return;
    const imported = importGains(text);
    if ('faults' in imported) {
      const detail = `${file.name} was not imported: ${imported.faults.join('; ')}`;
      act.refuse({ code: 'bad-file', detail, errors: [] });
      return;
    }
    let count = 0;
    for (const unit of UNIT_LIST) {
      const changes = difference(unit, gains[unit.name], imported.gains[unit.name]);
      count += changes.length;
      model.gains[unit.name].setTexts(textsOf(changes));
    }
    const edits = `${count} differences from ${file.name} are edits now. Save them.`;
    act.say(count === 0 ? `${file.name} has exactly the stored gains.` : edits);
  }

  return (
    <div class="toolbar">
      <Press disabled={gains === undefined} run={save}>
        Export
      </Press>
      <Press disabled={gains === undefined} run={() => picker.current?.click()}>
        Import
      </Press>
      <input
        ref={picker}
        type="file"
        accept=".json,application/json"
        hidden
        aria-label="File of gains"
        onChange={event => void load(event.currentTarget)}
      />
      <Press run={() => saveProfiles()}>Export profiles</Press>
      <Outcome action={act} />
      {sets.value.length > 0 && (
        <ul class="revisions profiles" aria-label="Profiles of the file">
          {sets.value.map(one => (
            <ProfileImport key={`${one.unit} ${one.set.name}`} {...one} />
          ))}
        </ul>
      )}
    </div>
  );
}

/** Empty if the file has no profiles. */
function setsIn(text: string) {
  try {
    return profilesIn(JSON.parse(text)) ?? [];
  } catch {
    return [];
  }
}

type Sent = Pick<Profile, 'name' | 'note' | 'starred' | 'gains'>;

/** The sets of a file of profiles; undefined if it is another file. The daemon checks each set. */
export function profilesIn(file: unknown): { readonly unit: UnitName; readonly set: Sent }[] | undefined {
  const { format, ...lists } = Object(file);
  if (!String(format).startsWith('trunnion profiles')) return undefined;
  return UNIT_LIST.flatMap(({ name: unit }) => {
    const sets: unknown = lists[unit] ?? [];
    if (!Array.isArray(sets)) return [];
    return sets.map(({ name, note, starred, gains }) => ({ unit, set: { name, note, starred, gains } }));
  });
}

/** One set of a file: what it would change, and a button that keeps it. */
export function ProfileImport({ unit, set }: { readonly unit: UnitName; readonly set: Sent }) {
  const model = useModel();
  const { daemon } = model;
  const act = useAction(set.name);
  const would = useSignal<KeptProfile | undefined>(undefined);
  const isKept = useSignal(false);
  useEffect(() => {
    void act.run('look', async () => {
      const outcome = await daemon.keepProfile(unit, { ...set, replace: true, dryRun: true });
      if ('body' in outcome) would.value = outcome.body;
      return outcome;
    });
  }, [set]);
  const keep = async () => {
    isKept.value = await act.run('keep', () => daemon.keepProfile(unit, { ...set, replace: true }), 'Kept.');
  };
  return (
    <li>
      <span>
        {unitNamed(unit).title} <strong>{set.name}</strong>{' '}
        <span class="difference">{would.value && changesOf(unitNamed(unit), would.value)}</span>
        <Outcome action={act} />
      </span>
      <Press
        action={act}
        what="keep"
        run={keep}
        disabled={would.value === undefined || isKept.value || !model.may('tune')}
        aria-label={`Keep ${set.name}`}
      >
        Keep
      </Press>
    </li>
  );
}

function changesOf({ loops }: Unit, { replaced, difference }: KeptProfile): string {
  const than = replaced === null ? 'from the gains in force' : 'from the one of this name';
  const parts = Object.entries(difference).map(([loop, { before, after }]) => {
    const title = loops.find(({ name }) => name === loop)?.title ?? loop;
    return `${title} ${before ? gainsText(before) : '–'} → ${after ? gainsText(after) : '–'}`;
  });
  return parts.length === 0 ? `no difference ${than}` : `differs ${than}: ${parts.join('; ')}`;
}
