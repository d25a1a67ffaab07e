import type { Unit } from '../core/units.js';
import type { Refusal } from './api.js';
import { element, setAttribute, setText } from './dom.js';
import { changeText, fieldsOf, GAIN_NAMES } from './edits.js';
import { createGainField, type StepSize } from './gain-field.js';
import type { Model } from './model.js';
import { Notice } from './notice.js';
import { clockText } from './numbers.js';
import type { Panel } from './panel.js';

export interface UnitCardOptions {
  readonly unit: Unit;
  readonly model: Model;
  readonly size: StepSize;
  readonly history: Panel;
}

/** The gains of one unit's loops: running, stored and edited, and the way from one to the other. */
export function createUnitCard({ unit, model, size, history }: UnitCardOptions): Panel {
  const running = element('span', { class: 'running' });
  const notice = new Notice();
  const list = element('ul', { class: 'changes' });
  const fields = fieldsOf(unit).map(field => ({ field, panel: createGainField(unit, field, model, size) }));
  const rows = unit.loops.map(loop => {
    const name = element(
      'button',
      {
        type: 'button',
        class: 'loop-name',
        onclick: () => model.choose({ unit: unit.name, loop: loop.name }),
      },
      loop.title,
    );
    const cells = fields.filter(({ field }) => field.loop === loop.name).map(({ panel }) => panel.element);
    return { loop, name, row: element('div', { class: 'loop' }, name, ...cells) };
  });
  let saving = false;
  const save = element(
    'button',
    { type: 'button', class: 'primary', onclick: () => void act(savedEdits) },
    'Save',
  );
  const revert = element(
    'button',
    { type: 'button', onclick: () => model.setTexts(unit.name, {}) },
    'Revert',
  );

  async function savedEdits(): Promise<Refusal | undefined> {
    const { changes } = model.editsOf(unit.name);
    const refusal = await model.save(unit.name);
    if (refusal === undefined) notice.say(`Saved: ${changes.map(one => changeText(unit, one)).join('; ')}`);
    return refusal;
  }

  async function act(request: () => Promise<Refusal | undefined>): Promise<void> {
    saving = true;
    notice.say('Saving…', 'pending');
    update();
    const refusal = await request();
    saving = false;
    if (refusal !== undefined) notice.refuse(refusal);
    update();
  }

  function update(): void {
    const { changes, faults } = model.editsOf(unit.name);
    const faulty = Object.keys(faults).length > 0;
    for (const { panel } of fields) panel.update();
    for (const { loop, name, row } of rows) {
      const { choice } = model;
      const chosen = choice.unit === unit.name && choice.loop === loop.name;
      setAttribute(row, 'data-chosen', chosen);
      setAttribute(name, 'aria-pressed', String(chosen));
    }
    showRunning();
    const told = changes.map(change => changeText(unit, change));
    const hint = faulty ? ['Mend the marked fields to save.'] : [];
    list.replaceChildren(...[...told, ...hint].map(text => element('li', {}, text)));
    setAttribute(save, 'disabled', changes.length === 0 || faulty || saving);
    setAttribute(save, 'aria-busy', saving);
    setText(
      save,
      changes.length === 0
        ? 'Save'
        : changes.length === 1
          ? 'Save 1 change'
          : `Save ${changes.length} changes`,
    );
    setAttribute(revert, 'disabled', (changes.length === 0 && !faulty) || saving);
    history.update();
  }

  function showRunning(): void {
    const status = model.status?.[unit.name];
    if (status === undefined) return;
    const { revision, savedAt, applied } = status.gains;
    const stored = savedAt === null ? 'Defaults' : `Revision ${revision}, ${clockText(savedAt, new Date())}`;
    setAttribute(running, 'data-state', !model.fresh ? 'unknown' : applied ? 'running' : 'waiting');
    const how = !model.fresh
      ? 'unknown'
      : applied
        ? 'running'
        : status.online
          ? 'not running yet'
          : 'not running: controller offline';
    setText(running, `${stored} · ${how}`);
    setAttribute(running, 'title', status.problem?.detail);
  }

  const heads = ['', ...GAIN_NAMES].map(text => element('span', { class: 'head' }, text));
  return {
    element: element(
      'section',
      { class: 'card unit', 'aria-label': `${unit.title} gains` },
      element('header', {}, element('h2', {}, unit.title), running),
      element(
        'div',
        { class: 'loops' },
        element('div', { class: 'loop heads', 'aria-hidden': 'true' }, ...heads),
        ...rows.map(({ row }) => row),
      ),
      element('footer', {}, element('div', { class: 'acts' }, save, revert), list, notice.element),
      history.element,
    ),
    update,
  };
}
