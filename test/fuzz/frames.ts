import fc from 'fast-check';
import { SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { standstill } from '../../sim/firmware/unit-loops.js';
import { isRobotError } from '../../src/core/errors.js';
import { UNIT_LIST, type Unit, unitNamed } from '../../src/core/units.js';
import { crc8, decodeFrame } from '../../src/protocol/codec.js';
import {
  frameBytes,
  MAX_FRAME_BYTES,
  REGISTERS,
  type Register,
  registerMap,
} from '../../src/protocol/registers.js';

const bytes = (maxLength: number) => fc.uint8Array({ maxLength }).map(data => Buffer.from(data));
const unitName = fc.constantFrom(...UNIT_LIST.map(({ name }) => name));

interface FrameStep {
  readonly address: number;
  readonly data: Buffer;
  /** True if the data of a writable register gets the right length and a valid checksum. */
  readonly sealed: boolean;
  readonly length: number;
  readonly ticks: number;
}

const step: fc.Arbitrary<FrameStep> = fc.record({
  address: fc.oneof(
    fc.integer({ min: 0, max: 255 }),
    fc.constantFrom(...UNIT_LIST.flatMap(unit => registerMap(unit)).map(({ address }) => address)),
  ),
  data: bytes(MAX_FRAME_BYTES + 2),
  sealed: fc.boolean(),
  length: fc.integer({ min: 1, max: MAX_FRAME_BYTES }),
  ticks: fc.integer({ min: 0, max: 30 }),
});

/**
 * Writes and reads random bytes at random registers of a controller. It must never fail, and its status must stay
 * readable. A frame that it refuses may change only the count of refusals and the fault `frame_refused`.
 */
export const firmware = fc.property(unitName, fc.array(step, { maxLength: 30 }), (name, steps) => {
  const unit = unitNamed(name);
  const controller = new SimulatedController(unit, standstill(unit), 1000);
  for (const { address, data, sealed, length, ticks } of steps) {
    const register = registerMap(unit).find(one => one.address === address && one.access !== 'read');
    const written = sealed && register !== undefined ? withChecksum(unit.address, register, data) : data;
    const isFrame =
      register !== undefined && orUndefined(() => decodeFrame(unit.address, register, written)) !== undefined;
    const before = stateOf(controller, unit);
    controller.write(address, written);
    const after = stateOf(controller, unit);
    if (!isFrame && after !== before) {
      throw new Error(`${before} became ${after} by ${written.toString('hex')}`);
    }
    controller.read(address, length);
    for (let tick = 0; tick < ticks; tick += 1) controller.tick();
  }
});

function stateOf(controller: SimulatedController, { address }: Unit): string {
  const { status } = REGISTERS;
  const { refused, faults, ...rest } = decodeFrame(
    address,
    status,
    controller.read(status.address, frameBytes(status)),
  );
  return JSON.stringify(rest);
}

/** Cuts or extends the bytes to the register's length, with a valid checksum. */
function withChecksum(address: number, register: Register, data: Buffer): Buffer {
  const length = frameBytes(register);
  const frame = Buffer.concat([data, Buffer.alloc(length)], length);
  frame[length - 1] = crc8(address, register.address, frame.subarray(0, length - 1));
  return frame;
}

function orUndefined<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (isRobotError(error, 'bad-frame')) return undefined;
    throw error;
  }
}
