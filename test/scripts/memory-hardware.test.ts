import { expect } from 'chai';
import { MemoryHardware } from '../../scripts/bench/memory-hardware.js';
import { busContract } from '../support/bus-contract.js';

describe('the hardware of the bench', () => {
  it('says when the pin went dark, once for each time', () => {
    const hardware = new MemoryHardware();
    const { laser } = hardware;
    hardware.takeDarkAtNs();
    laser.write(false);
    laser.write(true);
    const beforeNs = process.hrtime.bigint();
    laser.write(false);
    laser.write(false);
    const dark = hardware.takeDarkAtNs();
    expect(dark).to.have.length(1);
    expect(dark[0]! >= beforeNs).to.equal(true);
    expect(hardware.takeDarkAtNs()).to.deep.equal([]);
  });
});

busContract('the memory bus of the bench', () => new MemoryHardware().bus);
