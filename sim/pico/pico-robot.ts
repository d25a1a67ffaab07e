import type { Unit } from '../../src/core/units.js';
import { type CoreRobot, createCoreRobot } from '../core/core-robot.js';
import type { Controller } from '../firmware/simulated-controller.js';
import { seededNoise } from '../physics/noise.js';
import type { PhysicsOptions } from '../robot-physics.js';
import { Pico } from './pico.js';
import { PicoBoard } from './pico-board.js';
import { picoImage } from './pico-image.js';
import { Shadow } from './shadow.js';
import { Wire } from './wire.js';

const PERIOD_NS = 1e6;
const START_NS = 300e6;

interface Options extends PhysicsOptions {
  /** The rate of the bus. */
  readonly hz?: number;
  /** The folder of the images. */
  readonly images?: string;
}

/** A robot in which one unit is an emulated Pico. Each loop period of the image moves the mechanics. */
export function createPico(unit: Unit, core: WebAssembly.Module, options: Options) {
  const robot = createCoreRobot(core, options);
  return { pico: new PicoController(unit, robot, options), robot };
}

/** A motor controller that runs the image for the Raspberry Pi Pico. Each byte that it sends is compared with the core's. */
export class PicoController implements Controller {
  readonly unit: Unit;
  readonly pico: Pico;
  readonly board: PicoBoard;
  readonly wire: Wire;
  readonly shadow: Shadow;
  #dueNs = 0;

  constructor(unit: Unit, { physics, port, controller }: CoreRobot, { seed, hz = 400_000, images }: Options) {
    const noise = seededNoise(seed);
    this.unit = unit;
    this.pico = new Pico(picoImage(unit, images), () => Math.abs(noise()) % 1);
    this.board = new PicoBoard(this.pico, unit, port(unit));
    this.shadow = new Shadow(this.pico, controller(unit, { ...this.board.port, build: () => this.#build() }));
    this.wire = new Wire(this.pico, hz);
    this.pico.onPeriod = () => {
      this.board.step();
      physics.step();
    };
    this.pico.onStart = () => {
      this.board.connect();
      this.pico.target.observer = this.shadow;
    };
    this.pico.onStart();
    this.#awaken();
  }

  /** The register `build`. The image writes the longest loop time to its variable only when the register is read. */
  #build(): Buffer {
    const frame = Buffer.from(this.pico.variable('build'));
    frame.writeUInt16LE(Math.min(0xffff, this.pico.variable('longest_us').readUInt32LE()), 4);
    return frame;
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
    return this.shadow.core.truth();
  }
}
