import { defaultGains, type GainSet, type Unit } from '../core/units.js';
import type { Api } from './api.js';
import { element } from './dom.js';
import { changeText, difference } from './edits.js';
import type { Model } from './model.js';
import { Notice } from './notice.js';
import { clockText } from './numbers.js';
import type { Panel } from './panel.js';

interface Saved {
  readonly revision: number;
  readonly savedAt: string;
  readonly gains: GainSet;
}

const SHOWN = 50;

/** What was saved, when, and what it changed; fetched when somebody looks. */
export function createHistoryPanel(unit: Unit, model: Model, api: Api): Panel {
  const notice = new Notice();
  const list = element('ol', { class: 'revisions' });
  const details = element(
    'details',
    { class: 'history', ontoggle: () => update() },
    element('summary', {}, 'History'),
    notice.element,
    list,
  );
  let shown: number | undefined;

  function update(): void {
    const revision = model.status?.[unit.name].gains.revision;
    if (!details.open || revision === undefined || revision === shown) return;
    shown = revision;
    void load();
  }

  async function load(): Promise<void> {
    const outcome = await api.get<readonly Saved[]>(`/api/${unit.name}/pidconfig/history?limit=${SHOWN + 1}`);
    if ('refusal' in outcome) {
      shown = undefined;
      notice.refuse(outcome.refusal);
      return;
    }
    notice.clear();
    const all = outcome.body;
    const rows = all.slice(0, SHOWN).map((saved, index) => row(saved, all[index + 1], index === 0));
    list.replaceChildren(...rows);
    if (rows.length === 0) notice.say('Nothing was saved yet: the defaults are in force.', 'pending');
  }

  function row(saved: Saved, before: Saved | undefined, newest: boolean): HTMLElement {
    const from = before?.gains ?? (saved.revision === 1 ? defaultGains(unit) : saved.gains);
    const changes = difference(unit, from, saved.gains).map(change => changeText(unit, change));
    const restore = element(
      'button',
      {
        type: 'button',
        disabled: newest,
        'aria-label': newest ? undefined : `Restore revision ${saved.revision}`,
        onclick: () => void bring(saved),
      },
      newest ? 'Stored' : 'Restore',
    );
    return element(
      'li',
      {},
      element('span', { class: 'revision' }, `${saved.revision}`),
      element('time', { datetime: saved.savedAt }, clockText(saved.savedAt, new Date())),
      element('span', { class: 'difference' }, changes.join('; ') || 'no difference'),
      restore,
    );
  }

  async function bring({ revision }: Saved): Promise<void> {
    notice.say(`Restoring revision ${revision}…`, 'pending');
    const refusal = await model.restore(unit.name, revision);
    if (refusal === undefined) notice.say(`Revision ${revision} is running again.`);
    else notice.refuse(refusal);
  }

  return { element: details, update };
}
