import { expect } from 'chai';
import {
  changeText,
  difference,
  editState,
  realEdits,
  textsOf,
  withChanges,
} from '../../src/console/model/edits.js';
import { defaultGains, unitNamed } from '../../src/core/units.js';

const chassis = unitNamed('chassis');
const stored = { ...defaultGains(chassis), speed: { kp: 5, ki: 20, kd: 0 } };

describe('edits in the gain fields', () => {
  it('count as changes only if the number differs from the stored gain, and as faults if the text is not a number', () => {
    const { changes, faults } = editState(chassis, stored, {
      '/speed/kp': '6',
      '/speed/ki': '20.0',
      '/speed/kd': 'x',
    });
    expect(changes.map(change => changeText(chassis, change))).to.deep.equal(['Speed loop kp 5 → 6']);
    expect(faults).to.deep.equal({ '/speed/kd': 'is not a number' });
  });

  it('are dropped if the typed number equals the stored gain (5.00 for 5), but are kept if the field was emptied', () => {
    expect(
      realEdits(chassis, stored, { '/speed/kp': '5.00', '/speed/ki': '2', '/speed/kd': '' }),
    ).to.deep.equal({
      '/speed/ki': '2',
      '/speed/kd': '',
    });
  });

  it('of a loop that no longer exists cause neither a change nor a fault', () => {
    expect(editState(chassis, stored, { '/gone/kp': '6' })).to.deep.equal({ changes: [], faults: {} });
  });

  it('change only the edited gain, and leave all other stored gains as they were', () => {
    const { changes } = editState(chassis, stored, { '/speed/kp': '0.1' });
    const saved = withChanges(stored, changes);
    expect(saved).to.deep.equal({ ...stored, speed: { kp: 0.1, ki: 20, kd: 0 } });
    expect(stored.speed.kp).to.equal(5);
  });

  it('computed as the difference of two sets of gains turn the first set into exactly the second set, even with 1e-7 or 1e21', () => {
    const other = { ...stored, speed: { kp: 1e-7, ki: -0.5, kd: 1e21 } };
    const texts = textsOf(difference(chassis, stored, other));
    expect(withChanges(stored, editState(chassis, stored, texts).changes)).to.deep.equal(other);
  });
});
