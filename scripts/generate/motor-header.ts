import { EXCITATION_PERIOD_S, QUANTITIES, UNIT_LIST, type Unit, unitNamed } from '../../src/core/units.js';
import {
  CAPTURE_PAGE_SAMPLES,
  CAPTURE_SAMPLES,
  CRC_BYTES,
  capturePageRegister,
  type Field,
  frameBytes,
  gainsRegister,
  LOOP_SLOTS,
  MAGIC,
  MAX_FRAME_BYTES,
  PROTOCOL_VERSION,
  REGISTERS,
  type Register,
  SCALAR_BYTES,
  type Scalar,
  SPACE_BYTES,
  TAKES_EFFECT_MS,
  telemetryRegister,
} from '../../src/protocol/registers.js';

const C_TYPES: Readonly<Record<Scalar, string>> = {
  u8: 'uint8_t',
  u16: 'uint16_t',
  u32: 'uint32_t',
  i16: 'int16_t',
  f32: 'float',
};

/** `motor_registers.h`: the register map for firmware, as C11 or C++11. */
export function motorHeader(): string {
  const common = Object.values(REGISTERS);
  const page = capturePageRegister(1);
  const gains = { ...gainsRegister(0), name: 'gains', doc: 'Staged gains of one loop.' };
  const stride = gainsRegister(1).address - gains.address;
  const registers = [...common, page].flatMap(register => [
    define(`${upper(register.name)}_REGISTER`, hex(register.address), register.access),
    define(`${upper(register.name)}_BYTES`, String(frameBytes(register))),
  ]);
  return [
    HEAD,
    section('The map', [
      define('PROTOCOL_VERSION', String(PROTOCOL_VERSION)),
      define('MAGIC', `UINT32_C(${hex(MAGIC)})`, '"TRUN" on the wire'),
      define('SPACE_BYTES', String(SPACE_BYTES)),
      define('MAX_FRAME_BYTES', String(MAX_FRAME_BYTES), 'with the CRC'),
      define('LOOP_SLOTS', String(LOOP_SLOTS)),
      define('CAPTURE_SAMPLES', String(CAPTURE_SAMPLES)),
      define('CAPTURE_PAGE_SAMPLES', String(CAPTURE_PAGE_SAMPLES)),
      define('EXCITATION_MIN_PERIOD_S', float(EXCITATION_PERIOD_S.min)),
      define('EXCITATION_MAX_PERIOD_S', float(EXCITATION_PERIOD_S.max)),
      define('TAKES_EFFECT_MS', String(TAKES_EFFECT_MS), 'from a frame until its effect shows'),
    ]),
    section('Registers and the bytes of their frames', [
      ...registers,
      define('TELEMETRY_REGISTER', hex(telemetryRegister(unitNamed('gimbal')).address), 'read'),
      define('GAINS_REGISTER(slot)', `(${hex(gains.address)} + ${hex(stride)} * (slot))`, gains.access),
      define('GAINS_BYTES', String(frameBytes(gains))),
    ]),
    section('Values and bits', [...new Set(common.flatMap(register => register.fields.flatMap(valuesOf)))]),
    section('Units', UNIT_LIST.flatMap(unitDefines)),
    section('Frames', [
      '#pragma pack(push, 1)',
      ...[...common, gains, page].flatMap(register => struct(register.name, register)),
      ...UNIT_LIST.flatMap(unit => struct(`${unit.name}_telemetry`, telemetryRegister(unit))),
      '',
      '#pragma pack(pop)',
    ]),
    FUNCTIONS,
  ].join('\n');
}

function section(title: string, lines: readonly string[]): string {
  return `/* ${title} */\n\n${lines.join('\n').trim()}\n`;
}

function define(name: string, value: string, comment?: string): string {
  return `#define MOTOR_${name} ${value}${comment === undefined ? '' : ` /* ${comment} */`}`;
}

function upper(name: string): string {
  return name.toUpperCase();
}

function hex(value: number): string {
  return `0x${value.toString(16).padStart(2, '0').toUpperCase()}`;
}

function float(value: number): string {
  return `${Number.isInteger(value) ? value.toFixed(1) : value}f`;
}

function valuesOf(field: Field): string[] {
  const values = Object.entries(field.values ?? {}).map(
    ([value, number]) => `MOTOR_${upper(field.name)}_${upper(value)} = ${number}`,
  );
  const bits = (field.bits ?? []).map((bit, index) =>
    define(`${upper(field.name)}_${upper(bit)}`, hex(2 ** index)),
  );
  return [...(values.length > 0 ? [`enum { ${values.join(', ')} };`] : []), ...bits];
}

function unitDefines(unit: Unit): string[] {
  const name = upper(unit.name);
  const loops = unit.loops.flatMap(loop => {
    const counts = (quantity: keyof typeof QUANTITIES) => String(QUANTITIES[quantity].countsPerUnit);
    return [
      define(`${name}_${upper(loop.name)}_SLOT`, String(loop.slot)),
      define(`${name}_${upper(loop.name)}_COUNTS`, counts(loop.quantity), `per ${loop.quantity}`),
      define(
        `${name}_${upper(loop.name)}_OUTPUT_COUNTS`,
        counts(loop.outputQuantity),
        `per ${loop.outputQuantity}`,
      ),
      define(`${name}_${upper(loop.name)}_MAX_AMPLITUDE`, float(loop.maxAmplitude), loop.quantity),
    ];
  });
  return [
    define(`${name}_ADDRESS`, hex(unit.address), '7 bits'),
    define(`${name}_KIND`, String(unit.kind)),
    define(`${name}_LOOPS`, String(unit.loops.length)),
    define(`${name}_TELEMETRY_BYTES`, String(frameBytes(telemetryRegister(unit)))),
    ...loops,
  ];
}

/** A dotted name is a member of a struct within the frame, as `pose.x`. */
function struct(name: string, register: Register): string[] {
  const tag = `struct motor_${name}`;
  const lines = ['', `/* ${register.doc} */`, `${tag} {`];
  const asserts: string[] = [];
  let outer = '';
  let offset = 0;
  const leave = () => {
    if (outer !== '') lines.push(`    } ${outer};`);
  };
  for (const field of register.fields) {
    const [first = '', inner] = field.name.split('.');
    const within = inner === undefined ? '' : first;
    if (within !== outer) {
      leave();
      if (within !== '') lines.push('    struct {');
      outer = within;
    }
    lines.push(`${within === '' ? '' : '    '}    ${C_TYPES[field.type]} ${inner ?? first};`);
    asserts.push(`MOTOR_ASSERT(offsetof(${tag}, ${field.name}) == ${offset}, "${name}.${field.name}");`);
    offset += SCALAR_BYTES[field.type];
  }
  leave();
  lines.push('    uint8_t crc;', '};');
  asserts.push(`MOTOR_ASSERT(offsetof(${tag}, crc) == ${offset}, "${name}.crc");`);
  asserts.push(`MOTOR_ASSERT(sizeof(${tag}) == ${offset + CRC_BYTES}, "${name}");`);
  return [...lines, ...asserts];
}

const HEAD = `/*
 * Register map of Trunnion's motor controllers, for their firmware: C11 or C++11, nothing but the standard headers.
 * motor-protocol.md says what the registers mean. Generated from src/protocol/registers.ts and src/core/units.ts by
 * "npm run generate": change those. Licence: MIT.
 */

#ifndef MOTOR_REGISTERS_H
#define MOTOR_REGISTERS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define MOTOR_ASSERT(holds, what) static_assert(holds, what)
#else
#define MOTOR_ASSERT(holds, what) _Static_assert(holds, what)
#endif

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the frames are little-endian: on this machine they cannot be structs"
#endif
MOTOR_ASSERT(sizeof(float) == 4, "gains are IEEE 754 single precision");
`;

const FUNCTIONS = `/* Checksums */

/* CRC-8, polynomial 0x07, start 0: the 7-bit address, the register, the data. */
static inline uint8_t motor_crc8(uint8_t address, uint8_t reg, const void *data, size_t bytes)
{
    const uint8_t *next = (const uint8_t *)data;
    uint8_t crc = 0;
    for (size_t index = 0; index < bytes + 2; index++) {
        crc ^= index == 0 ? address : index == 1 ? reg : *next++;
        for (int bit = 0; bit < 8; bit++)
            crc = (uint8_t)(crc & 0x80 ? (crc << 1) ^ 0x07 : crc << 1);
    }
    return crc;
}

/* Puts the CRC into the last byte of a frame that is about to be read by the host. */
static inline void motor_seal(uint8_t address, uint8_t reg, void *frame, size_t frame_bytes)
{
    ((uint8_t *)frame)[frame_bytes - 1] = motor_crc8(address, reg, frame, frame_bytes - 1);
}

/* Whether a frame arrived as it was sent: 1 or 0. */
static inline int motor_is_sealed(uint8_t address, uint8_t reg, const void *frame, size_t frame_bytes)
{
    return ((const uint8_t *)frame)[frame_bytes - 1] == motor_crc8(address, reg, frame, frame_bytes - 1);
}

/* CRC-32 as in zip (reflected polynomial 0xEDB88320, start and final exclusive-or 0xFFFFFFFF). Start with crc 0; give
   the last result to go on with more data. */
static inline uint32_t motor_crc32(uint32_t crc, const void *data, size_t bytes)
{
    const uint8_t *next = (const uint8_t *)data;
    crc = ~crc;
    while (bytes-- > 0) {
        crc ^= *next++;
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? (crc >> 1) ^ UINT32_C(0xEDB88320) : crc >> 1;
    }
    return ~crc;
}

/* What status shows as active_checksum, and what a commit must carry: the staged frames in slot order. Loops fill the
   slots from 0; a unit that leaves one out goes over its frames itself. */
static inline uint32_t motor_gains_checksum(const struct motor_gains *gains, size_t loops)
{
    uint32_t crc = 0;
    for (size_t loop = 0; loop < loops; loop++)
        crc = motor_crc32(crc, &gains[loop], offsetof(struct motor_gains, crc));
    return crc;
}

#endif
`;
