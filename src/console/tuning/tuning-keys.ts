import { UNIT_LIST } from '../../core/units.js';
import type { Model } from '../model/model.js';

/**
 * Keys of the gains, where gains are shown. Enter alone belongs to whatever has the focus; where nothing has, it may be the
 * second press of one that ended a trial. Returns the act that ends them.
 */
export function listenToTuningKeys(model: Model): () => void {
  const listener = (event: KeyboardEvent) => {
    const { target, key, repeat } = event;
    const withCtrl = event.ctrlKey || event.metaKey;
    const field = target instanceof HTMLInputElement && target.id.startsWith('gain-') && target.id;
    const unit = field && UNIT_LIST.find(({ name }) => field.startsWith(`gain-${name}-`));
    const gains = model.gains[unit ? unit.name : model.choice.peek().unit];
    const undoes = withCtrl && key === 'z' && (field || target === document.body);
    const tunes = key === 'Enter' && (withCtrl || field) && model.may('tune');
    if (repeat || !(undoes || tunes)) return;
    event.preventDefault();
    void (undoes ? gains.undo() : withCtrl ? gains.save() : gains.try());
  };
  window.addEventListener('keydown', listener);
  return () => window.removeEventListener('keydown', listener);
}
