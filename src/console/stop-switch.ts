import { ActGroup } from './act-group.js';
import type { Api, Outcome } from './api.js';
import { element, setAttribute } from './dom.js';
import { onKey } from './keys.js';
import type { Model } from './model.js';
import type { Panel } from './panel.js';

/** One press, or Escape from anywhere. */
export function createStopSwitch(model: Model, api: Api): Panel {
  const group = new ActGroup('Stop', 'stopping', update);
  const halt = () => {
    void group.act('stop', async () => loud(await api.insist('/api/stop')));
  };
  const stop = element(
    'button',
    { type: 'button', class: 'stop', 'aria-keyshortcuts': 'Escape', onclick: halt },
    'STOP',
    element('kbd', { 'aria-hidden': 'true' }, 'Esc'),
  );
  const release = () => {
    void group.act('resume', () => api.post('/api/resume'));
  };
  const resume = element('button', { type: 'button', class: 'resume', onclick: release }, 'Resume');
  group.fill(stop, resume);
  onKey('escape', halt);

  function update(): void {
    const stopped = model.status?.stopped ?? false;
    setAttribute(document.documentElement, 'data-stopped', stopped);
    setAttribute(stop, 'aria-busy', group.pending === 'stop');
    setAttribute(resume, 'aria-busy', group.pending === 'resume');
    setAttribute(resume, 'disabled', model.fresh && !stopped);
  }
  return { element: group.element, update };
}

/** A stop that may not have happened needs more than a hint. */
function loud(outcome: Outcome<unknown>): Outcome<unknown> {
  if (!('refusal' in outcome)) return outcome;
  const detail = `STOP is not confirmed. Be ready to cut the power. ${outcome.refusal.detail}`;
  return { refusal: { ...outcome.refusal, detail } };
}
