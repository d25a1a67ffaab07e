import { expect } from 'chai';
import fc from 'fast-check';
import { isRobotError } from '../../src/core/errors.js';
import { defaultGains, UNIT_LIST, unitNamed } from '../../src/core/units.js';
import { bitNames, crc8, decodeFrame, encodeFrame, gainsChecksum } from '../../src/protocol/codec.js';
import {
  FAULTS,
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
  registerMap,
  telemetryRegister,
} from '../../src/protocol/registers.js';
import { GOLDEN_FRAMES } from './golden-frames.js';

const ADDRESS = 0x20;
const EVERY_REGISTER = UNIT_LIST.flatMap(unit =>
  registerMap(unit).map(register => ({ address: unit.address, register })),
);
const anyRegister = fc.constantFrom(...EVERY_REGISTER);

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(' ', ''), 'hex');
}

function spaced(frame: Buffer): string {
  return [...frame].map(byte => byte.toString(16).padStart(2, '0')).join(' ');
}

/** The frame with a right CRC, whatever the bytes mean. */
function sealed(address: number, register: Register, data: Uint8Array): Buffer {
  return Buffer.from([...data, crc8(address, register.address, data)]);
}

/** The decoded values, or the code with which the frame is refused. */
function decoded(address: number, register: Register, frame: Buffer) {
  try {
    return decodeFrame(address, register, frame);
  } catch (error) {
    if (isRobotError(error, 'bad-frame')) return undefined;
    throw error;
  }
}

describe('values of', () => {
  for (const { address, register, values, hex } of GOLDEN_FRAMES) {
    const unit = UNIT_LIST.find(one => one.address === address);
    it(`the ${unit?.name} register “${register.name}” are encoded to the bytes worked out by hand (${hex.slice(0, 11)}…), and decoded from those bytes unchanged`, () => {
      expect(spaced(encodeFrame(address, register, values))).to.equal(hex);
      expect(decodeFrame(address, register, bytes(hex))).to.deep.equal(values);
    });
  }

  it('every register are checked against bytes worked out by hand', () => {
    const golden = new Set(GOLDEN_FRAMES.map(({ register }) => register.name));
    expect(EVERY_REGISTER.filter(({ register }) => !golden.has(register.name))).to.deep.equal([]);
  });
});

describe('checksums', () => {
  it('of frames are the CRC-8 of SMBus', () => {
    expect(crc8(0x31, 0x32, Buffer.from('3456789'))).to.equal(0xf4);
  });

  it('of gains are the CRC-32 (as in zip files) of the bytes in which the gains are sent', () => {
    const gimbal = {
      visual_yaw: { kp: 1, ki: 0.5, kd: -2 },
      visual_pitch: { kp: 0, ki: 0, kd: 0 },
      angle_yaw: { kp: 0.1, ki: 0.2, kd: 0.3 },
      angle_pitch: { kp: 20, ki: 40, kd: 1 },
    };
    const chassis = {
      position: { kp: 2, ki: 0, kd: 0 },
      speed: { kp: 5, ki: 20, kd: 0 },
      angle: { kp: 10, ki: 5, kd: 0.5 },
    };
    expect(gainsChecksum(unitNamed('gimbal'), gimbal)).to.equal(0xecb5fbef);
    expect(gainsChecksum(unitNamed('chassis'), chassis)).to.equal(0x706c6711);
  });

  it('of gains cannot be computed if the gains of a loop are missing', () => {
    const { speed: _, ...rest } = defaultGains(unitNamed('chassis'));
    expect(() => gainsChecksum(unitNamed('chassis'), rest))
      .to.throw()
      .with.property('code', 'bad-field');
  });
});

describe('any frame', () => {
  it('of random bytes decodes to finite values or is refused as a bad frame, even if its CRC is valid', () => {
    fc.assert(
      fc.property(anyRegister, fc.uint8Array({ maxLength: 40 }), ({ address, register }, data) => {
        const whole = Buffer.concat([data, Buffer.alloc(40)]).subarray(0, frameBytes(register) - 1);
        for (const frame of [Buffer.from(data), sealed(address, register, whole)]) {
          for (const value of Object.values(decoded(address, register, frame) ?? {})) {
            expect(value).to.satisfy(Number.isFinite);
          }
        }
      }),
    );
  });

  it('that can be decoded is encoded to the same bytes again', () => {
    const anyByte = fc.oneof(fc.nat(3), fc.nat(255));
    const anyBytes = fc.array(anyByte, { minLength: 31, maxLength: 31 });
    fc.assert(
      fc.property(anyRegister, anyBytes, ({ address, register }, data) => {
        const frame = sealed(address, register, Uint8Array.from(data.slice(0, frameBytes(register) - 1)));
        const values = decoded(address, register, frame);
        // -32768 is never sent: a scaled value saturates at 32767 in either direction.
        fc.pre(values !== undefined && !spaced(frame).includes('00 80'));
        expect(spaced(encodeFrame(address, register, values ?? {}))).to.equal(spaced(frame));
      }),
    );
  });

  it('is refused if any single bit is flipped', () => {
    for (const { address, register, hex } of GOLDEN_FRAMES) {
      const frame = bytes(hex);
      for (let bit = 0; bit < frame.length * 8; bit += 1) {
        const flipped = Buffer.from(frame);
        flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
        expect(decoded(address, register, flipped), `${register.name} bit ${bit}`).to.equal(undefined);
      }
    }
  });

  it('is refused if it is decoded for another address or for another register', () => {
    const frame = encodeFrame(ADDRESS, gainsRegister(0), { kp: 1, ki: 2, kd: 3 });
    expect(decoded(ADDRESS + 1, gainsRegister(0), frame)).to.equal(undefined);
    expect(decoded(ADDRESS, gainsRegister(1), frame)).to.equal(undefined);
  });

  it('of the register “identity”, “status” or “telemetry” is refused if its bytes are all 0 or all 255', () => {
    for (const unit of UNIT_LIST) {
      for (const register of [REGISTERS.identity, REGISTERS.status, telemetryRegister(unit)]) {
        for (const fill of [0x00, 0xff]) {
          const frame = Buffer.alloc(frameBytes(register), fill);
          expect(decoded(unit.address, register, frame)).to.equal(undefined);
        }
      }
    }
  });

  const nonsense: readonly [string, Register, readonly number[]][] = [
    ['an undefined mode', REGISTERS.mode, [3]],
    ['a latch value other than 0 and 1', REGISTERS.stop, [2]],
    ['an infinite gain', gainsRegister(0), [0, 0, 0x80, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0]],
    ['a gain that is not a number', gainsRegister(0), [0, 0, 0xc0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0]],
  ];
  for (const [name, register, data] of nonsense) {
    it(`with ${name} is refused even if its CRC is valid`, () => {
      expect(decoded(ADDRESS, register, sealed(ADDRESS, register, Uint8Array.from(data)))).to.equal(
        undefined,
      );
    });
  }
});

describe('a register value', () => {
  const refused: readonly [string, Register, Readonly<Record<string, number>>][] = [
    ['is missing', REGISTERS.mode, {}],
    ['is a fraction in a field for whole numbers', REGISTERS.capture_select, { page: 1.5 }],
    ['is below the range of its field', REGISTERS.capture_select, { page: -1 }],
    ['is above the range of its field', REGISTERS.heartbeat, { count: 0, silence_ms: 65_536 }],
    ['is none of the numbers that its field allows', REGISTERS.mode, { mode: 3 }],
    ['is not a number', gainsRegister(0), { kp: Number.NaN, ki: 0, kd: 0 }],
    ['is infinite in a field for floats', gainsRegister(0), { kp: 0, ki: Number.POSITIVE_INFINITY, kd: 0 }],
    ['is too large for a float32', gainsRegister(0), { kp: 0, ki: 0, kd: -3.5e38 }],
  ];
  for (const [name, register, values] of refused) {
    it(`is refused as “bad-field” if it ${name}`, () => {
      expect(() => encodeFrame(ADDRESS, register, values))
        .to.throw()
        .with.property('code', 'bad-field');
    });
  }

  it('is rounded to the nearest step and limited to the range of its field if the field has a scale', () => {
    const register: Register = {
      ...REGISTERS.mode,
      fields: [{ name: 'angle', type: 'i16', scale: 10_000, doc: '' }],
    };
    const sent = (angle: number) => decodeFrame(ADDRESS, register, encodeFrame(ADDRESS, register, { angle }));
    const table: readonly [number, number][] = [
      [0.12344, 0.1234],
      [0.12346, 0.1235],
      [-0.12346, -0.1235],
      [4, 3.2767],
      [-4, -3.2767],
      [Number.NEGATIVE_INFINITY, -3.2767],
    ];
    for (const [given, got] of table) expect(sent(given)).to.deep.equal({ angle: got });
    const fromOtherFirmware = sealed(ADDRESS, register, Uint8Array.of(0, 0x80));
    expect(decodeFrame(ADDRESS, register, fromOtherFirmware)).to.deep.equal({ angle: -3.2767 });
  });

  it('of a bit field is decoded to the names of the bits that are set', () => {
    expect(bitNames(FAULTS, 0b10000001)).to.deep.equal(['silent', 'frame_refused']);
    expect(bitNames(FAULTS, 0)).to.deep.equal([]);
  });
});
