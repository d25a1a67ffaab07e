import type { Controller } from '../../sim/firmware/simulated-controller.js';
import { coreModule } from '../../sim/pico/core-robot.js';
import { decodeFrame } from '../../src/protocol/codec.js';
import { type FieldValues, frameBytes, type Register } from '../../src/protocol/registers.js';

/** The core that scripts/firmware/core compiled. */
export const core = coreModule('dist/firmware/core.wasm');

/** The values that a register of the controller shows. */
export function shown<R extends Register>(controller: Controller, register: R): FieldValues<R> {
  return decodeFrame(
    controller.unit.address,
    register,
    controller.read(register.address, frameBytes(register)),
  );
}
