import type { Unit } from '../../src/core/units.js';
import type { Controller } from '../firmware/simulated-controller.js';
import type { GimbalSight } from '../physics/gimbal-sight.js';
import type { RobotMechanics } from '../physics/robot-mechanics.js';
import { CoreController } from './core-controller.js';
import { Pico } from './pico.js';
import { PicoBoard } from './pico-board.js';
import { Shadow } from './shadow.js';
import { Wire } from './wire.js';

/** A compiled image, and the places of its variables. */
export interface PicoImage {
  readonly bytes: Uint8Array;
  readonly motor: Variable;
  /** The content of the register `build`. The image updates the longest loop time in it only when the register is read. */
  readonly build: Variable;
  readonly longest_us: Variable;
}

/** A variable of the image. */
interface Variable {
  readonly address: number;
  readonly bytes: number;
}

interface PicoOptions {
  readonly image: PicoImage;
  readonly core: WebAssembly.Module;
  readonly mechanics: RobotMechanics;
  readonly sight: GimbalSight;
  readonly random: () => number;
  readonly hz?: number;
  /** Moves the mechanics by one loop period. Called once in each loop period. */
  readonly step: () => void;
}

const PERIOD_NS = 1e6;
const START_NS = 300e6;

/** A motor controller that runs the image for the Raspberry Pi Pico. Each byte that it sends is compared with the core's. */
export class PicoController implements Controller {
  readonly unit: Unit;
  readonly pico: Pico;
  readonly board: PicoBoard;
  readonly wire: Wire;
  readonly shadow: Shadow;
  #dueNs = 0;

  constructor(unit: Unit, { image, core, mechanics, sight, random, hz = 400_000, step }: PicoOptions) {
    this.unit = unit;
    this.pico = new Pico(image.bytes, random);
    this.board = new PicoBoard(this.pico, unit, mechanics, sight);
    const axes = () => (unit.hasCamera ? sight.axes : mechanics.chassis);
    const bytesOf = ({ address, bytes }: Variable) =>
      Buffer.from(Array.from({ length: bytes }, (_, at) => this.pico.peek(address + at)));
    const build = () => {
      const frame = bytesOf(image.build);
      frame.writeUInt16LE(Math.min(0xffff, bytesOf(image.longest_us).readUInt32LE()), 4);
      return frame;
    };
    const controller = new CoreController(core, unit, { port: this.board.port, build }, axes);
    this.shadow = new Shadow(this.pico, controller, image.motor);
    this.wire = new Wire(this.pico, hz);
    this.pico.onPeriod = () => {
      this.board.step();
      step();
    };
    this.pico.onStart = () => {
      this.board.connect();
      this.pico.target.observer = this.shadow;
    };
    this.pico.onStart();
    this.#awaken();
  }

  reset(): void {
    this.pico.power();
    this.#awaken();
  }

  #awaken(): void {
    this.pico.run(this.pico.nowNs + START_NS, () => this.shadow.isAlike && this.pico.sleeps);
    this.#dueNs = this.pico.nowNs;
  }

  /** Runs to the end of the next millisecond. Transactions may have used part of that time already. */
  tick(): void {
    this.#dueNs += PERIOD_NS;
    this.pico.run(this.#dueNs);
    this.pico.run(this.#dueNs + PERIOD_NS, () => this.pico.sleeps);
  }

  read(address: number, length: number): Buffer {
    return this.wire.transfer(this.unit.address, [address], length);
  }

  write(address: number, data: Buffer): void {
    this.wire.transfer(this.unit.address, [address, ...data], 0);
  }

  truth(): Record<string, unknown> {
    return this.shadow.controller.truth();
  }
}
