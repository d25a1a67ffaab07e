import { expect } from 'chai';
import { busLoad } from '../../scripts/generate/bus-load.js';
import { UNIT_LIST, type Unit } from '../../src/core/units.js';
import {
  CAPTURE_PAGE_SAMPLES,
  CAPTURE_SAMPLES,
  frameBytes,
  gainsRegister,
  LOOP_SLOTS,
  MAX_FRAME_BYTES,
  REGISTERS,
  registerMap,
  SPACE_BYTES,
} from '../../src/protocol/registers.js';

/** The unit's registers, with the gains of all slots. Slots that it does not use must fit too, for later loops. */
function fullMap(unit: Unit) {
  const slots = Array.from({ length: LOOP_SLOTS }, (_, slot) => gainsRegister(slot));
  return [...registerMap(unit).filter(({ name }) => !name.startsWith('gains_')), ...slots].sort(
    (a, b) => a.address - b.address,
  );
}

for (const unit of UNIT_LIST) {
  describe(`the register map of the ${unit.name}`, () => {
    const map = fullMap(unit);

    it('has frames that fit in one SMBus block, lie within the address space and do not overlap', () => {
      for (const [index, register] of map.entries()) {
        expect(frameBytes(register), register.name).to.be.at.most(MAX_FRAME_BYTES);
        const next = map[index + 1]?.address ?? SPACE_BYTES;
        expect(register.address + frameBytes(register), register.name).to.be.at.most(next);
      }
    });

    it('gives different names to all registers, and to all fields within a frame', () => {
      for (const list of [map, ...map.map(({ fields }) => fields)]) {
        const names = list.map(({ name }) => name);
        expect(names).to.deep.equal([...new Set(names)]);
      }
    });

    it('gives every control loop a different slot number, which is less than the number of slots', () => {
      const slots = unit.loops.map(({ slot }) => slot);
      expect(new Set(slots).size).to.equal(slots.length);
      for (const slot of slots) expect(slot).to.be.within(0, LOOP_SLOTS - 1);
    });

    it('has no more flags and faults than the status register has bits for', () => {
      const [flags, faults] = [REGISTERS.status.fields[2].bits, REGISTERS.status.fields[3].bits];
      expect(flags.length).to.be.at.most(8);
      expect(faults.length).to.be.at.most(16);
      expect(LOOP_SLOTS).to.be.at.most(8);
    });
  });
}

describe('the gimbal and the chassis', () => {
  it('have different numbers in the identity field “kind”, and different I2C addresses that are not reserved', () => {
    expect(new Set(UNIT_LIST.map(({ address }) => address)).size).to.equal(UNIT_LIST.length);
    expect(new Set(UNIT_LIST.map(({ kind }) => kind)).size).to.equal(UNIT_LIST.length);
    for (const { address } of UNIT_LIST) expect(address).to.be.within(0x08, 0x77);
  });
});

describe('the I2C bus', () => {
  it('is busy at most 15 % of the time at 400 kHz and 60 % at 100 kHz if both units are polled 50 times a second', () => {
    expect(busLoad(50, 400_000)).to.be.at.most(0.15);
    expect(busLoad(50, 100_000)).to.be.at.most(0.6);
  });

  it('carries a whole capture in at most 256 pages, because one byte holds the page number', () => {
    expect(Math.ceil(CAPTURE_SAMPLES / CAPTURE_PAGE_SAMPLES)).to.be.at.most(256);
  });
});
