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

describe('the text in a gain field', () => {
  it('counts as a change if it is a number that differs from the stored gain, and as a fault if it is not a number', () => {
    const { changes, faults } = editState(chassis, stored, {
      '/speed/kp': '6',
      '/speed/ki': '20.0',
      '/speed/kd': 'x',
    });
    expect(changes.map(change => changeText(chassis, change))).to.deep.equal(['Speed loop kp 5 → 6']);
    expect(faults).to.deep.equal({ '/speed/kd': 'is not a number' });
  });

  it('counts as an edit if it is empty or a different number, but not if it only spells the stored gain differently (“5.00” for 5)', () => {
    const edits = realEdits(chassis, stored, { '/speed/kp': '5.00', '/speed/ki': '2', '/speed/kd': '' });
    expect(edits).to.deep.equal({ '/speed/ki': '2', '/speed/kd': '' });
  });

  it('is ignored if the field belongs to a loop that no longer exists', () => {
    expect(editState(chassis, stored, { '/gone/kp': '6' })).to.deep.equal({ changes: [], faults: {} });
  });

  it('changes only the gain of that field, and no other stored gain', () => {
    const { changes } = editState(chassis, stored, { '/speed/kp': '0.1' });
    const saved = withChanges(stored, changes);
    expect(saved).to.deep.equal({ ...stored, speed: { kp: 0.1, ki: 20, kd: 0 } });
    expect(stored.speed.kp).to.equal(5);
  });

  it('gives back exactly the gain from which the page made the text, even 1e-7 or 1e21', () => {
    const other = { ...stored, speed: { kp: 1e-7, ki: -0.5, kd: 1e21 } };
    const texts = textsOf(difference(chassis, stored, other));
    expect(withChanges(stored, editState(chassis, stored, texts).changes)).to.deep.equal(other);
  });
});
