import { expect } from 'chai';
import { SimulatedPin } from '../../../sim/bus/simulated-pin.js';
import { isRobotError } from '../../../src/core/errors.js';

describe('SimulatedPin', () => {
  const end = (act: () => unknown) => {
    try {
      return act() ?? 'done';
    } catch (error) {
      return isRobotError(error) ? error.code : error;
    }
  };

  it('is dark at first, and what was written after, but for calls that fail', () => {
    const pin = new SimulatedPin();
    const levels = () => [pin.level, end(() => pin.read())];
    expect(levels()).to.deep.equal([0, false]);
    pin.write(true);
    expect(levels()).to.deep.equal([1, true]);
    pin.fail(2);
    expect([end(() => pin.write(false)), ...levels()]).to.deep.equal(['pin-failed', 1, 'pin-failed']);
    expect([end(() => pin.write(false)), ...levels()]).to.deep.equal(['done', 0, false]);
  });

  it('fails until cleared where no count is given', () => {
    const pin = new SimulatedPin();
    pin.fail();
    for (let count = 0; count < 100; count += 1) expect(end(() => pin.write(true))).to.equal('pin-failed');
    pin.clear();
    expect(end(() => pin.write(true))).to.equal('done');
  });
});
