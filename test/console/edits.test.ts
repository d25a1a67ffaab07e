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

describe('edits', () => {
  it('consist of the typed numbers that differ from the stored gains, and report a typed text that is not a number', () => {
    const { changes, faults } = editState(chassis, stored, {
      '/speed/kp': '6',
      '/speed/ki': '20.0',
      '/speed/kd': 'x',
    });
    expect(changes.map(change => changeText(chassis, change))).to.deep.equal(['Speed loop kp 5 → 6']);
    expect(faults).to.deep.equal({ '/speed/kd': 'is not a number' });
  });

  it('are dropped if the typed number equals the stored gain (5.00 for 5), but an emptied field counts as an edit', () => {
    expect(
      realEdits(chassis, stored, { '/speed/kp': '5.00', '/speed/ki': '2', '/speed/kd': '' }),
    ).to.deep.equal({
      '/speed/ki': '2',
      '/speed/kd': '',
    });
  });

  it('of loops that no longer exist are ignored', () => {
    expect(editState(chassis, stored, { '/gone/kp': '6' })).to.deep.equal({ changes: [], faults: {} });
  });

  it('applied to the stored gains change only the edited gain, and leave all other gains as they were stored', () => {
    const { changes } = editState(chassis, stored, { '/speed/kp': '0.1' });
    const saved = withChanges(stored, changes);
    expect(saved).to.deep.equal({ ...stored, speed: { kp: 0.1, ki: 20, kd: 0 } });
    expect(stored.speed.kp).to.equal(5);
  });

  it('that turn one set of gains into another give exactly the other set, even with gains such as 1e-7 and 1e21', () => {
    const other = { ...stored, speed: { kp: 1e-7, ki: -0.5, kd: 1e21 } };
    const texts = textsOf(difference(chassis, stored, other));
    expect(withChanges(stored, editState(chassis, stored, texts).changes)).to.deep.equal(other);
  });
});
