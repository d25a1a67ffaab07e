import { crc32 } from 'node:zlib';
import { RobotError } from '../core/errors.js';
import { FLOAT32_MAX, type GainSet, type Unit } from '../core/units.js';
import {
  CRC_BYTES,
  type Field,
  type FieldValues,
  frameBytes,
  type Register,
  SCALAR_BYTES,
  type Scalar,
} from './registers.js';

/**
 * CRC-8, polynomial 0x07, start 0, over the 7-bit address, the register and the data. It is the same for reads and
 * writes.
 */
export function crc8(address: number, register: number, data: Uint8Array): number {
  return data.reduce(crc8OfByte, crc8OfByte(crc8OfByte(0, address), register));
}

function crc8OfByte(before: number, byte: number): number {
  let crc = before ^ byte;
  for (let bit = 0; bit < 8; bit += 1) crc = crc & 0x80 ? ((crc << 1) ^ 0x07) & 0xff : crc << 1;
  return crc;
}

/** The range of each type, and the methods of Buffer for it. Scaled values saturate at both ends of the range. */
const SCALARS = {
  u8: { min: 0, max: 0xff, read: 'readUInt8', write: 'writeUInt8' },
  u16: { min: 0, max: 0xffff, read: 'readUInt16LE', write: 'writeUInt16LE' },
  u32: { min: 0, max: 0xffff_ffff, read: 'readUInt32LE', write: 'writeUInt32LE' },
  i16: { min: -0x7fff, max: 0x7fff, read: 'readInt16LE', write: 'writeInt16LE' },
  f32: { min: -FLOAT32_MAX, max: FLOAT32_MAX, read: 'readFloatLE', write: 'writeFloatLE' },
} as const satisfies Readonly<Record<Scalar, unknown>>;

function wireValue(register: Register, field: Field, value: number | undefined): number {
  const { min, max } = SCALARS[field.type];
  const refuse = () => new RobotError('bad-field', { register: register.name, field: field.name, value });
  if (value === undefined || Number.isNaN(value)) throw refuse();
  if (field.scale !== undefined) return Math.min(max, Math.max(min, Math.round(value * field.scale)));
  if (value < min || value > max) throw refuse();
  if (field.type !== 'f32' && !Number.isInteger(value)) throw refuse();
  if (field.values !== undefined && !Object.values(field.values).includes(value)) throw refuse();
  return value;
}

/** The frame of `values` as it is written to `register` of the controller at `address`. */
export function encodeFrame<R extends Register>(
  address: number,
  register: R,
  values: Readonly<FieldValues<R>>,
): Buffer {
  const given: Readonly<Record<string, number>> = values;
  const frame = Buffer.alloc(frameBytes(register));
  let offset = 0;
  for (const field of register.fields) {
    frame[SCALARS[field.type].write](wireValue(register, field, given[field.name]), offset);
    offset += SCALAR_BYTES[field.type];
  }
  frame.writeUInt8(crc8(address, register.address, frame.subarray(0, offset)), offset);
  return frame;
}

/**
 * Throws RobotError `bad-frame` for a wrong length, a wrong CRC, a value that the register does not allow, or
 * a value that is not finite.
 */
export function decodeFrame<R extends Register>(address: number, register: R, frame: Buffer): FieldValues<R> {
  const refuse = (reason: string) =>
    new RobotError('bad-frame', { address, register: register.name, reason, bytes: frame.toString('hex') });
  if (frame.length !== frameBytes(register)) throw refuse('length');
  const end = frame.length - CRC_BYTES;
  if (frame.readUInt8(end) !== crc8(address, register.address, frame.subarray(0, end))) throw refuse('CRC');
  const values: Record<string, number> = {};
  let offset = 0;
  for (const field of register.fields) {
    const { min, read } = SCALARS[field.type];
    const raw = frame[read](offset);
    if (!Number.isFinite(raw)) throw refuse(`${field.name} not finite`);
    if (field.values !== undefined && !Object.values(field.values).includes(raw)) {
      throw refuse(`${field.name} ${raw} unknown`);
    }
    // Firmware may saturate at -32768. That value means the end of the range, -32767.
    values[field.name] = field.scale === undefined ? raw : Math.max(min, raw) / field.scale;
    offset += SCALAR_BYTES[field.type];
  }
  return values as FieldValues<R>;
}

/** CRC-32 (as in zip) of the set as float32, little-endian: kp, ki, kd of each loop in slot order. */
export function gainsChecksum(unit: Unit, gains: GainSet): number {
  const bytes = Buffer.alloc(unit.loops.length * 12);
  unit.loops.forEach((loop, index) => {
    const triple = gains[loop.name];
    if (triple === undefined) throw new RobotError('bad-field', { unit: unit.name, loop: loop.name });
    bytes.writeFloatLE(triple.kp, index * 12);
    bytes.writeFloatLE(triple.ki, index * 12 + 4);
    bytes.writeFloatLE(triple.kd, index * 12 + 8);
  });
  return crc32(bytes);
}

/** The names of the bits that are set. */
export function bitNames<Name extends string>(names: readonly Name[], value: number): Name[] {
  return names.filter((_, bit) => value & (1 << bit));
}

/** The shortest decimal number that rounds to this float32, so that 0.1 is read back as 0.1. */
export function shortest(float32: number): number {
  for (let digits = 6; digits < 9; digits += 1) {
    const candidate = Number(float32.toPrecision(digits));
    if (Math.fround(candidate) === float32) return candidate;
  }
  return float32;
}
