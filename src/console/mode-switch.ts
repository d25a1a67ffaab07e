import { MODES, type Unit } from '../core/units.js';
import { ActGroup } from './act-group.js';
import type { Api } from './api.js';
import { element, setAttribute, setText } from './dom.js';
import type { Model } from './model.js';
import type { Panel } from './panel.js';

/** The modes of one unit; the one in force is lit, or grey while the controller is away. */
export function createModeSwitch(unit: Unit, model: Model, api: Api): Panel {
  const group = new ActGroup(`${unit.title} mode`, 'modes', update);
  const note = element('span', { class: 'unit-note' });
  const buttons = MODES.map(mode => {
    const choose = () => {
      void group.act(mode, () => api.post(`/api/${unit.name}/mode/switch`, { mode }));
    };
    return { mode, button: element('button', { type: 'button', onclick: choose }, mode) };
  });
  group.fill(
    element('span', { class: 'label' }, unit.title, note),
    element('div', { class: 'segments' }, ...buttons.map(({ button }) => button)),
  );

  function update(): void {
    const status = model.status?.[unit.name];
    for (const { mode, button } of buttons) {
      setAttribute(button, 'aria-pressed', String(status?.mode === mode));
      setAttribute(button, 'aria-busy', group.pending === mode);
    }
    const offline = status !== undefined && !status.online;
    setAttribute(group.element, 'data-offline', offline);
    const told = offline ? ['offline'] : (status?.faults ?? []);
    setText(note, told.join(', ').replaceAll('_', ' '));
    setAttribute(note, 'title', status?.problem?.detail);
  }
  return { element: group.element, update };
}
