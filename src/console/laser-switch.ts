import { ActGroup } from './act-group.js';
import type { Api } from './api.js';
import { element, setAttribute, setText } from './dom.js';
import { onKey } from './keys.js';
import type { Model } from './model.js';
import type { Panel } from './panel.js';

/** `L` darkens it from anywhere; there is no key that lights it. */
export function createLaserSwitch(model: Model, api: Api): Panel {
  const group = new ActGroup('Laser', 'laser', update);
  const lamp = element('output', { class: 'lamp' });
  const turn = (action: 'on' | 'off') => {
    const ask = action === 'off' ? api.insist : api.post;
    void group.act(action, () => ask('/api/laser', { action }));
  };
  const on = element('button', { type: 'button', onclick: () => turn('on') }, 'On');
  const off = element(
    'button',
    { type: 'button', 'aria-keyshortcuts': 'L', onclick: () => turn('off') },
    'Off',
    element('kbd', { 'aria-hidden': 'true' }, 'L'),
  );
  group.fill(
    element('span', { class: 'label' }, 'Laser', lamp),
    element('div', { class: 'segments' }, on, off),
  );
  onKey('l', () => turn('off'));

  function update(): void {
    const laser = model.status?.laser;
    const lit = laser?.state === 'on';
    setText(
      lamp,
      laser === undefined ? '' : laser.state === null ? 'not available' : lit ? 'LASER ON' : 'dark',
    );
    setAttribute(lamp, 'title', laser?.problem?.detail ?? laser?.reason);
    setAttribute(document.documentElement, 'data-lit', lit);
    setAttribute(on, 'aria-busy', group.pending === 'on');
    setAttribute(off, 'aria-busy', group.pending === 'off');
    setAttribute(on, 'aria-pressed', String(lit));
    setAttribute(off, 'aria-pressed', String(laser?.state === 'off'));
  }
  return { element: group.element, update };
}
