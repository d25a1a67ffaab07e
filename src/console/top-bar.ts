import { UNIT_LIST } from '../core/units.js';
import type { Api } from './api.js';
import { element, setAttribute, setText } from './dom.js';
import { createLaserSwitch } from './laser-switch.js';
import { createModeSwitch } from './mode-switch.js';
import type { Model } from './model.js';
import type { Panel } from './panel.js';
import { createStopSwitch } from './stop-switch.js';

/** Always in sight: how the robot is, its modes, its laser, and the way to stop it. */
export function createTopBar(model: Model, api: Api): Panel {
  const badge = element('span', { class: 'badge', hidden: true }, 'SIMULATED');
  const link = element('span', { class: 'link', role: 'status' });
  const banner = element('p', { class: 'banner', role: 'status', hidden: true });
  const switches = [
    ...UNIT_LIST.map(unit => createModeSwitch(unit, model, api)),
    createLaserSwitch(model, api),
    createStopSwitch(model, api),
  ];
  const brand = element('div', { class: 'brand' }, element('h1', {}, 'Trunnion'), badge, link);
  return {
    element: element('header', { class: 'bar' }, brand, ...switches.map(part => part.element), banner),
    update() {
      const { status, fresh } = model;
      const state = fresh ? 'live' : status === undefined ? 'connecting' : 'stale';
      setAttribute(badge, 'hidden', !status?.simulated);
      setAttribute(link, 'data-state', state);
      setText(link, { live: 'Live', connecting: 'Connecting…', stale: 'No contact' }[state]);
      setAttribute(document.documentElement, 'data-stale', !fresh);
      const told = bannerText(model);
      setText(banner, told);
      setAttribute(banner, 'hidden', told === '');
      document.title = titleOf(model);
      for (const part of switches) part.update();
    },
  };
}

function bannerText({ status, fresh, resting }: Model): string {
  if (resting) return 'This page rests while newer ones are open in this browser. Press anywhere to wake it.';
  if (status === undefined) return '';
  if (!fresh)
    return 'No contact with the daemon. What you see is the last that was heard; it may have changed.';
  if (status.stopped)
    return 'Stopped: torque is off and the laser is dark. Resume puts both units in manual.';
  return '';
}

function titleOf({ status, fresh }: Model): string {
  const told = [
    ...(status?.laser.state === 'on' ? ['● LASER ON'] : []),
    ...(status?.stopped ? ['Stopped'] : []),
    ...(status !== undefined && !fresh ? ['No contact'] : []),
  ];
  return [...told, 'Trunnion'].join(' · ');
}
