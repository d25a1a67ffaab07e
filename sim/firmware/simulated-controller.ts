import { isRobotError, RobotError } from '../../src/core/errors.js';
import type { Unit } from '../../src/core/units.js';
import { decodeFrame, encodeFrame } from '../../src/protocol/codec.js';
import { frameBytes, type Register, registerMap, SPACE_BYTES } from '../../src/protocol/registers.js';
import { type Build, Firmware } from './firmware.js';
import type { UnitLoops } from './unit-loops.js';

/** The frames whose effect the protocol allows to be late. */
const TAKE_EFFECT_LATER: readonly string[] = [
  'mode',
  'stop',
  'heartbeat',
  'excitation',
  'guarded_excitation',
  'commit',
  'motion',
];
/** These frames take effect in the next loop period, because the host counts on their time. */
const NEXT_PERIOD: readonly string[] = ['heartbeat', 'motion'];

/** One motor controller as the bus sees it: 256 bytes of registers. */
export interface Controller {
  readonly unit: Unit;
  /** Restarts the controller, as after a loss of power: it forgets everything. The mechanics keep their motion. */
  reset(): void;
  /** Runs one loop period. */
  tick(): void;
  /** Reads from the 256 bytes of memory. Past the end, continues at the beginning. */
  read(address: number, length: number): Buffer;
  /**
   * Receives one frame. A frame with a wrong length or CRC is refused: it changes only the count of refusals. A
   * register byte without data is not a frame.
   */
  write(address: number, data: Buffer): void;
  truth(): Record<string, unknown>;
}

/** A controller with the simulated firmware behind it. */
export class SimulatedController implements Controller {
  readonly unit: Unit;
  readonly #loops: UnitLoops;
  readonly #rateHz: number;
  readonly #map: readonly Register[];
  readonly #effectTicks: number;
  /** Pending effects of frames, oldest first, with the ticks until each. */
  #effects: { ticks: number; readonly act: () => void }[] = [];
  readonly #build: Build | undefined;
  #boots = 0;
  #firmware: Firmware;

  /** Frames that may take effect late do so after `effectMs`. Without `build` there is no register of that name. */
  constructor(unit: Unit, loops: UnitLoops, rateHz: number, effectMs = 0, build?: Build) {
    this.#build = build;
    this.#effectTicks = Math.round((effectMs * rateHz) / 1000);
    this.unit = unit;
    this.#loops = loops;
    this.#rateHz = rateHz;
    this.#map = registerMap(unit).filter(({ name }) => name !== 'build' || build !== undefined);
    this.#firmware = this.#start();
  }

  reset(): void {
    this.#firmware = this.#start();
    this.#effects = [];
    this.#loops.reset();
  }

  tick(): void {
    if (this.#effects.length > 0) this.#takeEffects();
    this.#firmware.tick();
  }

  #takeEffects(): void {
    for (const effect of this.#effects) effect.ticks -= 1;
    const due = this.#effects.filter(({ ticks }) => ticks <= 0);
    this.#effects = this.#effects.filter(({ ticks }) => ticks > 0);
    for (const { act } of due) act();
  }

  read(address: number, length: number): Buffer {
    const memory = Buffer.alloc(2 * SPACE_BYTES);
    const end = address + length;
    for (const register of this.#map) {
      if (register.access === 'write') continue;
      const places = [register.address, register.address + SPACE_BYTES];
      const asked = places.filter(place => place < end && address < place + frameBytes(register));
      if (asked.length === 0) continue;
      const values = this.#firmware.values(register);
      const frame = encodeFrame(this.unit.address, this.#firmware.shape(register), values);
      for (const place of asked) frame.copy(memory, place);
    }
    return memory.subarray(address, end);
  }

  write(address: number, data: Buffer): void {
    if (data.length === 0) return;
    const register = this.#map.find(one => one.address === address && one.access !== 'read');
    try {
      if (register === undefined) throw new RobotError('bad-frame', { address });
      const act = this.#firmware.take(register, decodeFrame(this.unit.address, register, data));
      const isLater = this.#effectTicks > 0 && TAKE_EFFECT_LATER.includes(register.name);
      const ticks = NEXT_PERIOD.includes(register.name) ? 1 : this.#effectTicks;
      if (isLater) this.#effects.push({ ticks, act });
      else act();
    } catch (error) {
      if (!isRobotError(error, 'bad-frame')) throw error;
      this.#firmware.refuse();
    }
  }

  truth(): Record<string, unknown> {
    return { boots: this.#boots, ...this.#firmware.truth(), axes: this.#loops.axes };
  }

  #start(): Firmware {
    this.#boots += 1;
    return new Firmware(this.unit, this.#loops, this.#rateHz, this.#boots, this.#build);
  }
}
