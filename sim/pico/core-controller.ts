import type { Unit } from '../../src/core/units.js';
import { decodeFrame } from '../../src/protocol/codec.js';
import { FLAGS, frameBytes, REGISTERS } from '../../src/protocol/registers.js';
import type { Controller } from '../firmware/simulated-controller.js';
import { Core, type CoreBelow } from './core.js';

const STATUS_BYTES = frameBytes(REGISTERS.status);

/** A motor controller that runs the C core instead of the simulated firmware. */
export class CoreController implements Controller {
  readonly unit: Unit;
  readonly core: Core;
  readonly #axes: () => unknown;
  #boots = 0;

  /** `axes` is the true state of the mechanics, which no sensor measures. */
  constructor(module: WebAssembly.Module, unit: Unit, below: CoreBelow, axes: () => unknown) {
    this.unit = unit;
    this.#axes = axes;
    this.core = new Core(module, unit, below);
    this.reset();
  }

  reset(bootId = this.#boots + 1): void {
    this.#boots += 1;
    this.core.start(bootId);
  }

  tick(): void {
    this.core.tick();
  }

  read(address: number, length: number): Buffer {
    return this.core.read(address, length);
  }

  write(address: number, data: Buffer): void {
    this.core.write(address, data);
  }

  truth(): Record<string, unknown> {
    const { mode, torque, gains } = this.core.command;
    const { address } = REGISTERS.status;
    const { flags } = decodeFrame(this.unit.address, REGISTERS.status, this.core.read(address, STATUS_BYTES));
    const hasGains = (flags & (1 << FLAGS.indexOf('gains_committed'))) !== 0;
    return {
      boots: this.#boots,
      mode,
      stopped: this.core.read(REGISTERS.stop.address, 1)[0] === 1,
      torque,
      gains: hasGains ? gains : null,
      axes: this.#axes(),
    };
  }
}
