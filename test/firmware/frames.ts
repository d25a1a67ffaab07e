import { defaultGains, FLOAT32_MAX, type GainSet, type Unit } from '../../src/core/units.js';
import { crc8, encodeFrame, gainsChecksum } from '../../src/protocol/codec.js';
import {
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
  registerMap,
} from '../../src/protocol/registers.js';
import type { Random } from '../support/random.js';

/** The bytes of a write, and the register to which they are written. */
export interface Frame {
  readonly place: number;
  readonly data: Buffer;
}

export function frameOf(
  { address }: Unit,
  register: Register,
  values: Readonly<Record<string, number>>,
): Frame {
  return { place: register.address, data: encodeFrame(address, register, values) };
}

/** The frames that give a controller gains. After them it needs no more heartbeats. */
export function gainsFrames(unit: Unit, gains: GainSet = defaultGains(unit)): Frame[] {
  return [
    frameOf(unit, REGISTERS.heartbeat, { count: 0, silence_ms: 0 }),
    ...unit.loops.map(({ slot, name }) => frameOf(unit, gainsRegister(slot), { ...gains[name] })),
    frameOf(unit, REGISTERS.commit, { checksum: gainsChecksum(unit, gains) }),
  ];
}

const WRITE = {
  u8: 'writeUInt8',
  u16: 'writeUInt16LE',
  u32: 'writeUInt32LE',
  i16: 'writeInt16LE',
  f32: 'writeFloatLE',
} as const;

/** Random frames for one controller: most are right, some are out of range, damaged, too short or too long. */
export class RandomFrames {
  readonly #unit: Unit;
  readonly #random: Random;
  #writable: readonly Register[];
  #staged: Record<string, GainSet[string]> = {};

  /** Writes only to registers for which `takes` returns true. */
  constructor(unit: Unit, random: Random, takes = (_register: Register) => true) {
    this.#unit = unit;
    this.#random = random;
    this.#writable = registerMap(unit).filter(one => one.access !== 'read' && takes(one));
  }

  /** Frames that begin an excitation. No later frame changes the excitation, so captures follow one another. */
  excitation(): readonly Frame[] {
    this.#writable = [REGISTERS.capture_select];
    return [
      ...gainsFrames(this.#unit),
      frameOf(this.#unit, REGISTERS.mode, { mode: 2 }),
      frameOf(this.#unit, REGISTERS.excitation, { slot: 0, amplitude: 0.1, period_s: 0.1 }),
    ];
  }

  next(): Frame {
    const random = this.#random;
    const ofGains = this.#writable.filter(({ name }) => name === 'commit' || name.startsWith('gains'));
    const register = random.among(ofGains.length > 0 && random.chance(0.4) ? ofGains : this.#writable);
    const place = random.chance(0.02) ? random.whole(0, 255) : register.address;
    return { place, data: random.chance(0.01) ? Buffer.alloc(0) : this.#damaged(this.#sealed(register)) };
  }

  #damaged(frame: Buffer): Buffer {
    const random = this.#random;
    if (random.chance(0.04)) frame[random.whole(0, frame.length - 1)] = random.whole(0, 255);
    if (random.chance(0.02)) return frame.subarray(0, random.whole(0, frame.length - 1));
    if (random.chance(0.02)) return Buffer.concat([frame, Buffer.alloc(random.whole(0, 39))]);
    return frame;
  }

  /** A frame with a right CRC. Its values may be out of range. */
  #sealed(register: Register): Buffer {
    const frame = Buffer.alloc(frameBytes(register));
    const values = this.#valuesOf(register);
    let end = 0;
    for (const [index, { type }] of register.fields.entries())
      end = frame[WRITE[type]](values[index] ?? 0, end);
    frame.writeUInt8(crc8(this.#unit.address, register.address, frame.subarray(0, end)), end);
    return frame;
  }

  #valuesOf(register: Register): readonly number[] {
    const random = this.#random;
    switch (register.name) {
      case 'mode':
        return [random.whole(0, random.chance(0.1) ? 255 : 2)];
      case 'stop':
        return [random.whole(0, random.chance(0.1) ? 255 : 1)];
      case 'heartbeat':
        return [random.whole(0, 255), random.among([0, 1, 5, 20, 500, 0xffff])];
      case 'commit': {
        const isWhole = this.#unit.loops.every(({ name }) => name in this.#staged);
        return [isWhole && random.chance(0.9) ? gainsChecksum(this.#unit, this.#staged) : 7];
      }
      case 'excitation':
        return this.#excitation();
      case 'guarded_excitation':
        return [...this.#excitation(), random.among([0, 1 / 16, 0.25, 1, 4, -1, Math.fround(0.3)])];
      case 'motion':
        return this.#motion();
      case 'capture_select':
        return [random.among([0, 1, 5, 36, 37, 255])];
    }
    return this.#gains(register);
  }

  #excitation(): readonly number[] {
    const random = this.#random;
    const { slot, maxAmplitude } = random.among(this.#unit.loops);
    const largest = Math.fround(maxAmplitude);
    const amplitude = random.among([0, 0.05, 0.1, largest, largest * 1.000001, -0.1, Number.NaN]);
    const periodS = random.among([0.1, 0.0999, 0.101, 0.125, 0.5, 2, 20, 20.01, Number.POSITIVE_INFINITY]);
    return [random.chance(0.05) ? random.whole(0, 255) : slot, amplitude, periodS];
  }

  #motion(): readonly number[] {
    const random = this.#random;
    const rate = () => random.among([0, 1, 250, -250, 1501, -3001, 0x7fff, -0x8000]);
    return [rate(), rate(), random.among([0, 1, 5, 50, 500, 501, 0xffff])];
  }

  #gains(register: Register): readonly number[] {
    const random = this.#random;
    const loop = this.#unit.loops.find(({ slot }) => register.name === `gains_${slot}`);
    if (loop === undefined) throw new TypeError(`no values for ${register.name}`);
    const gain = () => Math.fround(random.among([0, 1, 0.5, -2, 300, FLOAT32_MAX]));
    const gains = { kp: random.chance(0.05) ? Number.NaN : gain(), ki: gain(), kd: gain() };
    if (Number.isFinite(gains.kp)) this.#staged[loop.name] = gains;
    return [gains.kp, gains.ki, gains.kd];
  }
}
