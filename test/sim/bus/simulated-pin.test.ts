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

  it('is dark at first, and what was written after', () => {
    const pin = new SimulatedPin();
    expect([pin.level, pin.read()]).to.deep.equal([0, false]);
    pin.write(true);
    expect([pin.level, pin.read()]).to.deep.equal([1, true]);
    pin.write(false);
    expect([pin.level, pin.read()]).to.deep.equal([0, false]);
  });

  it('fails for as many calls as asked, reads and writes alike, and keeps its level', () => {
    const pin = new SimulatedPin();
    pin.write(true);
    pin.fail(2);
    expect([end(() => pin.write(false)), end(() => pin.read()), pin.level]).to.deep.equal([
      'pin-failed',
      'pin-failed',
      1,
    ]);
    expect([end(() => pin.write(false)), pin.level]).to.deep.equal(['done', 0]);
  });

  it('fails until cleared where no count is given', () => {
    const pin = new SimulatedPin();
    pin.fail();
    for (let count = 0; count < 100; count += 1) expect(end(() => pin.write(true))).to.equal('pin-failed');
    pin.clear();
    pin.write(true);
    expect(pin.level).to.equal(1);
  });
});
