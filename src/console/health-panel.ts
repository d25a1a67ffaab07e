import { UNIT_LIST } from '../core/units.js';
import { element, setAttribute, setText } from './dom.js';
import type { Model } from './model.js';
import type { Panel } from './panel.js';
import type { Status, Told } from './robot-state.js';

interface Complaint {
  readonly about: string;
  readonly text: string;
}

/** What is wrong and how it is cured, in words. */
export function createHealthPanel(model: Model): Panel {
  const list = element('ul', { class: 'complaints' });
  const version = element('p', { class: 'hint' });
  let shown = '';
  return {
    element: element(
      'section',
      { class: 'card health', 'aria-label': 'Health' },
      element('h2', {}, 'Health'),
      list,
      version,
    ),
    update() {
      const { status } = model;
      if (status === undefined) return;
      const complaints = complaintsOf(status);
      const now = JSON.stringify(complaints);
      if (now !== shown) {
        const rows = complaints.map(({ about, text }) =>
          element('li', {}, element('strong', {}, about), ` ${text}`),
        );
        list.replaceChildren(...(rows.length > 0 ? rows : [element('li', { class: 'well' }, 'All well')]));
        shown = now;
      }
      setAttribute(list, 'data-well', complaints.length === 0);
      setText(version, `Trunnion ${status.version}`);
    },
  };
}

function complaintsOf(status: Status): Complaint[] {
  const told = (problem: Told | undefined) => [problem?.detail, problem?.cure].filter(Boolean).join(' ');
  const units = UNIT_LIST.flatMap(({ name, title }): Complaint[] => {
    const { online, problem, faults, gains } = status[name];
    return [
      ...(online ? [] : [{ about: title, text: `is offline. ${told(problem)}` }]),
      ...faults.map(fault => ({ about: title, text: `reports ${fault.replaceAll('_', ' ')}.` })),
      ...(online && !gains.applied ? [{ about: title, text: 'does not run the stored gains yet.' }] : []),
    ];
  });
  const { laser, storage } = status;
  return [
    ...units,
    ...(laser.problem === undefined ? [] : [{ about: 'Laser', text: told(laser.problem) }]),
    ...(laser.reason === undefined || laser.reason === 'stop'
      ? []
      : [{ about: 'Laser', text: `went dark by itself: ${laser.reason}.` }]),
    ...(storage === undefined || storage.ok
      ? []
      : [{ about: 'Storage', text: `${storage.detail ?? 'failed.'} ${storage.cure ?? ''}` }]),
    ...(storage?.setAside ?? []).map(file => ({
      about: 'Storage',
      text: `set a damaged file aside: ${file}`,
    })),
  ];
}
