import {
  EXCITATION_PERIOD_S,
  MAX_HOLD_MS,
  QUANTITIES,
  RATE_COUNTS,
  UNIT_LIST,
  type Unit,
  unitNamed,
} from '../../src/core/units.js';
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
  motionRegister,
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

/** The generated part of docs/motor_registers.h, valid as C11 and C++11. */
export function motorHeader(): string {
  const common = Object.values(REGISTERS);
  const page = capturePageRegister(1);
  const gains = { ...gainsRegister(0), name: 'gains', doc: 'Staged gains of one loop.' };
  const motion = motionRegister(unitNamed('gimbal'));
  const stride = gainsRegister(1).address - gains.address;
  const placeOf = (register: Register) => [
    define(`${upper(register.name)}_REGISTER`, hex(register.address), register.access),
    define(`${upper(register.name)}_BYTES`, String(frameBytes(register))),
  ];
  return [
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
      define('RATE_COUNTS', String(RATE_COUNTS), 'per m/s or rad/s'),
      define('MAX_HOLD_MS', String(MAX_HOLD_MS), 'of a motion'),
      define('TAKES_EFFECT_MS', String(TAKES_EFFECT_MS), 'from a frame until its effect shows'),
    ]),
    section('Registers and the bytes of their frames', [
      ...[...common, page].flatMap(placeOf),
      define('TELEMETRY_REGISTER', hex(telemetryRegister(unitNamed('gimbal')).address), 'read'),
      ...placeOf(motion),
      define('GAINS_REGISTER(slot)', `(${hex(gains.address)} + ${hex(stride)} * (slot))`, gains.access),
      define('GAINS_BYTES', String(frameBytes(gains))),
    ]),
    section('Values and bits', [...new Set(common.flatMap(register => register.fields.flatMap(valuesOf)))]),
    section('Units', UNIT_LIST.flatMap(unitDefines)),
    section('Frames', [
      '#pragma pack(push, 1)',
      ...[...common, gains, page].flatMap(register => struct(register.name, register)),
      ...UNIT_LIST.flatMap(unit => [
        ...struct(`${unit.name}_telemetry`, telemetryRegister(unit)),
        ...struct(`${unit.name}_motion`, motionRegister(unit)),
      ]),
      '',
      '#pragma pack(pop)',
    ]),
  ]
    .join('\n')
    .trimEnd();
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

/** A dotted field name such as `pose.x` becomes a member of a nested struct. */
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
