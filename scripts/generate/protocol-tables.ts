import { QUANTITIES, UNIT_LIST, type Unit, unitNamed } from '../../src/core/units.js';
import { encodeFrame } from '../../src/protocol/codec.js';
import {
  capturePageRegister,
  type Field,
  frameBytes,
  gainsRegister,
  LOOP_SLOTS,
  motionRegister,
  REGISTERS,
  type Register,
  SCALAR_BYTES,
  telemetryRegister,
} from '../../src/protocol/registers.js';
import { busLoad, POLL, POLL_BITS } from './bus-load.js';

/** The generated parts of docs/motor-protocol.md, by the names of their markers. */
export function protocolTables(): Readonly<Record<string, string>> {
  return {
    map: map(),
    units: units(),
    frames: frames(),
    telemetry: framesOfUnits(telemetryRegister),
    motion: framesOfUnits(motionRegister),
    load: load(),
    examples: examples(),
  };
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [head, head.map(() => '---'), ...rows].map(row => `| ${row.join(' | ')} |`).join('\n');
}

function hex(value: number): string {
  return `0x${value.toString(16).padStart(2, '0')}`;
}

function map(): string {
  const slots = Array.from({ length: LOOP_SLOTS }, (_, slot) => gainsRegister(slot));
  const motion = motionRegister(unitNamed('gimbal'));
  const lengths = UNIT_LIST.map(unit => frameBytes(telemetryRegister(unit)));
  const rows = [
    ...[...Object.values(REGISTERS), ...slots, capturePageRegister(1), motion].map(register => ({
      ...register,
      bytes: String(frameBytes(register)),
    })),
    { ...telemetryRegister(unitNamed('gimbal')), bytes: [...new Set(lengths)].join(' or ') },
  ].sort((a, b) => a.address - b.address);
  return table(
    ['offset', 'register', 'access', 'bytes with CRC', 'what it is'],
    rows.map(({ address, name, access, bytes, doc }) => [hex(address), `\`${name}\``, access, bytes, doc]),
  );
}

function units(): string {
  const heads = table(
    ['unit', '7-bit address', '`kind`', 'loops'],
    UNIT_LIST.map(unit => [unit.name, hex(unit.address), unit.kind, unit.loops.length]),
  );
  const counts = (quantity: keyof typeof QUANTITIES) => {
    const { countsPerUnit } = QUANTITIES[quantity];
    return `${quantity}, ${countsPerUnit} counts each, ±${32767 / countsPerUnit}`;
  };
  const loops = table(
    ['unit', 'slot', 'loop', 'setpoint and measured value', 'output', 'largest amplitude'],
    UNIT_LIST.flatMap(unit =>
      unit.loops.map(loop => [
        unit.name,
        loop.slot,
        `\`${loop.name}\``,
        counts(loop.quantity),
        counts(loop.outputQuantity),
        `${loop.maxAmplitude} ${loop.quantity}`,
      ]),
    ),
  );
  return `${heads}\n\n${loops}`;
}

function frames(): string {
  const gains = {
    ...gainsRegister(0),
    name: 'gains_0 … gains_4',
    doc: 'Staged gains of the loop in this slot.',
  };
  const place = (register: Register) =>
    register.address === gains.address
      ? `${hex(gains.address)} + ${hex(gainsRegister(1).address - gains.address)} · slot`
      : hex(register.address);
  return [...Object.values(REGISTERS), gains, capturePageRegister(1)]
    .sort((a, b) => a.address - b.address)
    .map(register =>
      [
        `### \`${register.name}\`, ${place(register)}: ${register.access}`,
        register.doc,
        fieldTable(register),
      ].join('\n\n'),
    )
    .join('\n\n');
}

/** The frames of a register that differs from unit to unit. */
function framesOfUnits(registerOf: (unit: Unit) => Register): string {
  return UNIT_LIST.map(unit => {
    const register = registerOf(unit);
    return `### \`${register.name}\` of the ${unit.name}, ${hex(register.address)}: ${register.access}\n\n${fieldTable(register)}`;
  }).join('\n\n');
}

const CRC: Field = { name: 'crc', type: 'u8', doc: 'CRC-8 of the frame.' };

function fieldTable(register: Register): string {
  let offset = 0;
  const rows = [...register.fields, CRC].map(field => {
    const row = [offset, `\`${field.name}\``, field.type, meaning(field)];
    offset += SCALAR_BYTES[field.type];
    return row;
  });
  return table(['byte', 'field', 'type', 'meaning'], rows);
}

function meaning({ doc, scale, unit, values, bits }: Field): string {
  const listed = Object.entries(values ?? {}).map(([name, value]) => `${value} \`${name}\``);
  const flags = (bits ?? []).map((name, bit) => `bit ${bit} \`${name}\``);
  const amount = scale === undefined || unit === undefined ? unit : `1/${scale} ${unit}`;
  return [doc, amount && `In ${amount}.`, [...listed, ...flags].join(', ')].filter(part => part).join(' ');
}

function load(): string {
  const percent = (part: number) => `${(part * 100).toFixed(1)} %`;
  const transactions = table(
    ['unit', 'transaction', 'bits'],
    [
      ...POLL.map(({ unit, register, direction, bits }) => [unit, `${direction} \`${register}\``, bits]),
      ['both', 'one poll', POLL_BITS],
    ],
  );
  const rates = [50, 100];
  const loads = table(
    ['bus', ...rates.map(rate => `${rate} polls a second`)],
    [100_000, 400_000].map(busHz => [
      `${busHz / 1000} kHz`,
      ...rates.map(rate => percent(busLoad(rate, busHz))),
    ]),
  );
  return `${transactions}\n\n${loads}`;
}

function examples(): string {
  const { address } = unitNamed('gimbal');
  const example = <R extends Register>(
    said: string,
    register: R,
    values: Parameters<typeof encodeFrame<R>>[2],
  ) => {
    const frame = encodeFrame(address, register, values);
    const bytes = [...frame].map(byte => byte.toString(16).padStart(2, '0')).join(' ');
    return [said, hex(register.address), `\`${bytes}\``];
  };
  return table(
    ['frame', 'register', `bytes, at address ${hex(address)}`],
    [
      example('mode `debug`', REGISTERS.mode, { mode: 2 }),
      example('stop', REGISTERS.stop, { stop: 1 }),
      example('heartbeat 7, 500 ms', REGISTERS.heartbeat, { count: 7, silence_ms: 500 }),
      example('gains 1, 0.5, -2 in slot 0', gainsRegister(0), { kp: 1, ki: 0.5, kd: -2 }),
      example('commit of 0x12345678', REGISTERS.commit, { checksum: 0x12345678 }),
    ],
  );
}
