import { FLOAT32_MAX, type GainSet, type Unit } from '../../src/core/units.js';
import { crc8, gainsChecksum } from '../../src/protocol/codec.js';
import { frameBytes, type Register, registerMap } from '../../src/protocol/registers.js';
import type { Random } from '../walk/random.js';

/** Random frames for one controller: most are right, some are out of range, damaged, too short or too long. */
export class RandomFrames {
  readonly #unit: Unit;
  readonly #random: Random;
  #writable: readonly Register[];
  #staged: Record<string, GainSet[string]> = {};

  constructor(unit: Unit, random: Random) {
    this.#unit = unit;
    this.#random = random;
    this.#writable = registerMap(unit).filter(register => register.access !== 'read');
  }

  /** Frames that begin an excitation. No later frame changes the excitation, so captures follow one another. */
  excitation(): readonly { place: number; data: Buffer }[] {
    const named = (name: string) => this.#writable.filter(register => register.name.startsWith(name));
    const whole = (register: Register, data: Buffer) => ({
      place: register.address,
      data: Buffer.concat([data, Buffer.from([crc8(this.#unit.address, register.address, data)])]),
    });
    const gains = named('gains_').map(register => {
      const loop = this.#unit.loops.find(({ slot }) => register.name === `gains_${slot}`);
      if (loop !== undefined) this.#staged[loop.name] = { kp: 1, ki: 0, kd: 0 };
      return whole(register, Buffer.concat([float(1), float(0), float(0)]));
    });
    const checksum = Buffer.alloc(4);
    checksum.writeUInt32LE(gainsChecksum(this.#unit, this.#staged));
    const wave = Buffer.concat([Buffer.from([0]), float(0.1), float(0.1)]);
    const rest: readonly [string, Buffer][] = [
      ['heartbeat', Buffer.alloc(3)],
      ['commit', checksum],
      ['mode', Buffer.from([2])],
      ['excitation', wave],
    ];
    const frames = rest.flatMap(([name, data]) => named(name).map(register => whole(register, data)));
    this.#writable = named('capture_select');
    return [...gains, ...frames];
  }

  /** Returns random bytes, and the register to which they are written. */
  next(): { place: number; data: Buffer } {
    const random = this.#random;
    const ofGains = this.#writable.filter(({ name }) => name === 'commit' || name.startsWith('gains'));
    const register = random.among(ofGains.length > 0 && random.chance(0.4) ? ofGains : this.#writable);
    const place = random.chance(0.02) ? random.whole(0, 255) : register.address;
    return { place, data: random.chance(0.01) ? Buffer.alloc(0) : this.#damaged(this.#frame(register)) };
  }

  #frame(register: Register): Buffer {
    const data = this.#dataOf(register);
    return Buffer.concat([data, Buffer.from([crc8(this.#unit.address, register.address, data)])]);
  }

  #damaged(frame: Buffer): Buffer {
    const random = this.#random;
    if (random.chance(0.04)) frame[random.whole(0, frame.length - 1)] = random.whole(0, 255);
    if (random.chance(0.02)) return frame.subarray(0, random.whole(0, frame.length - 1));
    if (random.chance(0.02)) return Buffer.concat([frame, Buffer.alloc(random.whole(0, 39))]);
    return frame;
  }

  #dataOf(register: Register): Buffer {
    const random = this.#random;
    switch (register.name) {
      case 'mode':
        return Buffer.from([random.whole(0, random.chance(0.1) ? 255 : 2)]);
      case 'stop':
        return Buffer.from([random.whole(0, random.chance(0.1) ? 255 : 1)]);
      case 'heartbeat': {
        const silenceMs = random.among([0, 1, 5, 20, 500, 0xffff]);
        return Buffer.from([random.whole(0, 255), silenceMs & 0xff, silenceMs >> 8]);
      }
      case 'commit': {
        const isWhole = this.#unit.loops.every(({ name }) => name in this.#staged);
        const checksum = isWhole && random.chance(0.9) ? gainsChecksum(this.#unit, this.#staged) : 7;
        const data = Buffer.alloc(4);
        data.writeUInt32LE(checksum);
        return data;
      }
      case 'excitation':
        return this.#excitation();
      case 'guarded_excitation':
        return Buffer.concat([
          this.#excitation(),
          float(random.among([0, 1 / 16, 0.25, 1, 4, -1, Math.fround(0.3)])),
        ]);
      case 'capture_select':
        return Buffer.from([random.among([0, 1, 5, 36, 37, 255])]);
    }
    return this.#gains(register, frameBytes(register) - 1);
  }

  #excitation(): Buffer {
    const random = this.#random;
    const { slot, maxAmplitude } = random.among(this.#unit.loops);
    const largest = Math.fround(maxAmplitude);
    const amplitude = random.among([0, 0.05, 0.1, largest, largest * 1.000001, -0.1, Number.NaN]);
    const periodS = random.among([0.1, 0.0999, 0.101, 0.125, 0.5, 2, 20, 20.01, Number.POSITIVE_INFINITY]);
    const named = random.chance(0.05) ? random.whole(0, 255) : slot;
    return Buffer.concat([Buffer.from([named]), float(amplitude), float(periodS)]);
  }

  #gains(register: Register, bytes: number): Buffer {
    const random = this.#random;
    const loop = this.#unit.loops.find(({ slot }) => register.name === `gains_${slot}`);
    if (loop === undefined) return Buffer.alloc(bytes, random.whole(0, 255));
    const gain = () => Math.fround(random.among([0, 1, 0.5, -2, 300, FLOAT32_MAX]));
    const gains = { kp: random.chance(0.05) ? Number.NaN : gain(), ki: gain(), kd: gain() };
    if (Number.isFinite(gains.kp)) this.#staged[loop.name] = gains;
    return Buffer.concat([float(gains.kp), float(gains.ki), float(gains.kd)]);
  }
}

function float(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeFloatLE(value);
  return bytes;
}
