import { expect } from 'chai';
import { isRobotError } from '../../src/core/errors.js';
import { UNIT_LIST, type Unit } from '../../src/core/units.js';
import type { I2cBus } from '../../src/hardware/ports.js';
import { decodeFrame, encodeFrame } from '../../src/protocol/codec.js';
import { frameBytes, gainsRegister, MAX_FRAME_BYTES, REGISTERS } from '../../src/protocol/registers.js';

/** An address at which nothing answers. */
const NOBODY = 0x2f;

/** Every bus must do this that has a slave at the address of each unit, be it a controller or plain memory. */
export function busContract(name: string, open: () => I2cBus | Promise<I2cBus>): void {
  const slots = UNIT_LIST.flatMap(unit =>
    unit.loops.map(loop => ({ unit, register: gainsRegister(loop.slot) })),
  );
  const write = (bus: I2cBus, { address }: Unit, slot: number, kp: number) => {
    const frame = encodeFrame(address, gainsRegister(slot), { kp, ki: -kp, kd: 0.5 });
    return bus.writeBlock(address, gainsRegister(slot).address, frame).then(() => frame);
  };
  const codeOf = async (call: Promise<unknown>) => {
    const error = await call.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return isRobotError(error) ? error.code : error;
  };

  describe(`${name} as an I2cBus`, () => {
    let bus: I2cBus;
    before(async () => {
      bus = await open();
    });

    it('reads back every whole frame, of each slave its own', async () => {
      for (const [index, { unit, register }] of slots.entries()) {
        const frame = encodeFrame(unit.address, register, { kp: index, ki: 0.25, kd: -1 });
        await bus.writeBlock(unit.address, register.address, frame);
      }
      for (const [index, { unit, register }] of slots.entries()) {
        const frame = await bus.readBlock(unit.address, register.address, frameBytes(register));
        expect(decodeFrame(unit.address, register, frame).kp).to.equal(index);
      }
    });

    it('reads any part of memory, up to a whole block and across frames', async () => {
      const [unit] = UNIT_LIST;
      if (unit === undefined) throw new Error('no units');
      const first = await write(bus, unit, 0, 3);
      const second = await write(bus, unit, 1, 4);
      const start = gainsRegister(0).address;
      const stride = gainsRegister(1).address - start;
      const block = await bus.readBlock(unit.address, start, MAX_FRAME_BYTES);
      expect(block).to.have.length(MAX_FRAME_BYTES);
      expect(block.subarray(0, first.length)).to.deep.equal(first);
      expect(block.subarray(stride, stride + second.length)).to.deep.equal(second);
      for (const [at, length] of [
        [0, 1],
        [3, 5],
        [stride + 1, 12],
      ] as const) {
        const part = await bus.readBlock(unit.address, start + at, length);
        expect(part).to.deep.equal(block.subarray(at, at + length));
      }
    });

    it('leaves to its caller what was read and written', async () => {
      const [unit] = UNIT_LIST;
      if (unit === undefined) throw new Error('no units');
      const frame = await write(bus, unit, 0, 7);
      const kept = Buffer.from(frame);
      frame.fill(0);
      const read = await bus.readBlock(unit.address, gainsRegister(0).address, kept.length);
      read.fill(0);
      const again = await bus.readBlock(unit.address, gainsRegister(0).address, kept.length);
      expect(again).to.deep.equal(kept);
    });

    it('fails where nobody answers, and goes on with those who do', async () => {
      expect(await codeOf(bus.readBlock(NOBODY, REGISTERS.mode.address, 2))).to.equal('nack');
      expect(await codeOf(bus.writeBlock(NOBODY, REGISTERS.mode.address, Buffer.alloc(2)))).to.equal('nack');
      for (const unit of UNIT_LIST) await write(bus, unit, 0, 1);
    });
  });
}
