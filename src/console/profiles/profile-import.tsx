import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { UNIT_LIST, type Unit, type UnitName, unitNamed } from '../../core/units.js';
import type { KeptProfile, Profile } from '../../schemas/profile.js';
import { Outcome, Press, useAction, useModel } from '../parts/parts.js';
import { gainsText } from '../step/figure-table.js';

type Sent = Pick<Profile, 'name' | 'note' | 'starred' | 'gains'>;

/** The sets of a file of profiles; undefined where it is none. The daemon checks each. */
export function profilesIn(file: unknown): { readonly unit: UnitName; readonly set: Sent }[] | undefined {
  const { format, ...lists } = Object(file);
  if (!String(format).startsWith('trunnion profiles')) return undefined;
  return UNIT_LIST.flatMap(({ name: unit }) => {
    const sets: unknown = lists[unit] ?? [];
    if (!Array.isArray(sets)) return [];
    return sets.map(({ name, note, starred, gains }) => ({ unit, set: { name, note, starred, gains } }));
  });
}

/** One set of a file: what it would change, and a press that keeps it. */
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
