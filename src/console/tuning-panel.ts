import { UNIT_LIST, unitNamed } from '../core/units.js';
import type { Api } from './api.js';
import { element, offerFile, setAttribute } from './dom.js';
import { difference, textsOf } from './edits.js';
import { type AllGains, exportGains, importGains } from './gains-file.js';
import { createHistoryPanel } from './history-panel.js';
import type { Model } from './model.js';
import { Notice } from './notice.js';
import { clockText } from './numbers.js';
import type { Panel } from './panel.js';
import { createUnitCard } from './unit-card.js';

/** All gains, and what is done to all of them at once. */
export function createTuningPanel(model: Model, api: Api): Panel {
  const size = { fine: false };
  const notice = new Notice();
  const cards = UNIT_LIST.map(unit =>
    createUnitCard({ unit, model, size, history: createHistoryPanel(unit, model, api) }),
  );
  const fine = element(
    'button',
    {
      type: 'button',
      'aria-pressed': 'false',
      onclick: () => {
        size.fine = !size.fine;
        setAttribute(fine, 'aria-pressed', String(size.fine));
      },
      title: 'Steps of a tenth. Shift does the same for one step.',
    },
    'Fine steps',
  );
  const picker = element('input', {
    type: 'file',
    accept: '.json,application/json',
    hidden: true,
    'aria-label': 'File of gains',
    onchange: () => void importFile(),
  });
  const download = element('button', { type: 'button', onclick: exportFile }, 'Export');
  const upload = element('button', { type: 'button', onclick: () => picker.click() }, 'Import');
  const back = element('button', { type: 'button', onclick: () => void toSnapshot() }, 'Back to snapshot');

  function stored(): AllGains | undefined {
    const { gimbal, chassis } = model.units;
    if (gimbal.stored === undefined || chassis.stored === undefined) return undefined;
    return { gimbal: gimbal.stored, chassis: chassis.stored };
  }

  function exportFile(): void {
    const gains = stored();
    if (gains === undefined) return;
    offerFile('trunnion-gains.json', 'application/json', exportGains(gains));
    notice.say('Exported what is stored, without unsaved edits.');
  }

  async function importFile(): Promise<void> {
    const [file] = picker.files ?? [];
    const gains = stored();
    if (file === undefined || gains === undefined) return;
    const imported = importGains(await file.text());
    picker.value = '';
    if ('faults' in imported) {
      notice.say(`Nothing was taken from ${file.name}: ${imported.faults.join('; ')}`, 'refusal');
      return;
    }
    let count = 0;
    for (const unit of UNIT_LIST) {
      const changes = difference(unit, gains[unit.name], imported.gains[unit.name]);
      count += changes.length;
      model.setTexts(unit.name, textsOf(changes));
    }
    notice.say(
      count === 0
        ? `${file.name} says what is stored.`
        : `${count} differences from ${file.name} are edits now: save them.`,
    );
  }

  const changedUnits = () =>
    UNIT_LIST.filter(({ name }) => {
      const { stored, snapshot } = model.units[name];
      return (
        stored !== undefined &&
        snapshot !== undefined &&
        difference(unitNamed(name), stored, snapshot).length > 0
      );
    });

  async function toSnapshot(): Promise<void> {
    for (const { name, title } of changedUnits()) {
      const { snapshot } = model.units[name];
      const refusal = snapshot === undefined ? undefined : await model.saveSet(name, snapshot);
      if (refusal !== undefined) {
        notice.say(`${title}: ${refusal.detail}`, 'refusal');
        return;
      }
    }
    notice.say('The gains of when this page was opened are running.');
  }

  const opened = clockText(model.openedAt.toISOString(), model.openedAt);
  setAttribute(back, 'title', `Saves the gains of ${opened}, when this page was opened`);
  return {
    element: element(
      'div',
      { class: 'tuning' },
      element(
        'div',
        { class: 'toolbar' },
        fine,
        element('span', { class: 'spring' }),
        back,
        download,
        upload,
        picker,
      ),
      notice.element,
      ...cards.map(card => card.element),
    ),
    update() {
      setAttribute(back, 'disabled', changedUnits().length === 0);
      setAttribute(download, 'disabled', stored() === undefined);
      setAttribute(upload, 'disabled', stored() === undefined);
      for (const card of cards) card.update();
    },
  };
}
