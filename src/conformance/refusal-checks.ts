import type { Unit } from '../core/units.js';
import { crc8 } from '../protocol/codec.js';
import {
  CRC_BYTES,
  FLAGS,
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
  registerMap,
  SCALAR_BYTES,
} from '../protocol/registers.js';
import { type Check, each, effect, keeps, listed, repeat, type Step, shows } from './check.js';
import { type Host, same } from './host.js';

type Values = Readonly<Record<string, number>>;

const { status, mode, stop, excitation, guarded_excitation } = REGISTERS;
/** An offset that no frame covers. */
export const NOWHERE = 0x4e;
/** With these values, a frame that should have been refused takes no torque and gives none. */
const HARMLESS = { stop: 1, period_s: 1 };

/** The data of a frame. Fields that are not given are 0. The values need not be allowed ones. */
function dataOf(register: Register, values: Values): Buffer {
  const data = Buffer.alloc(frameBytes(register) - CRC_BYTES);
  let offset = 0;
  for (const { name, type } of register.fields) {
    if (type === 'f32') data.writeFloatLE(values[name] ?? 0, offset);
    else data.writeUIntLE(values[name] ?? 0, offset, SCALAR_BYTES[type]);
    offset += SCALAR_BYTES[type];
  }
  return data;
}

/** The frames of these registers change by themselves. */
const LIVE: readonly string[] = ['status', 'build', 'telemetry'];

/** The state that a refused frame must not change. */
async function stateOf(host: Host, place: number) {
  const { refused, faults: _, flags, ...rest } = await host.read(status);
  const lasting = flags & ~(1 << FLAGS.indexOf('target_visible'));
  const isLive = registerMap(host.unit).some(({ name, address }) => address === place && LIVE.includes(name));
  const bytes = isLive ? '' : (await host.bytes(place, 13)).toString('hex');
  return { refused, lasting: { ...rest, flags: lasting, bytes } };
}

async function isRefused(host: Host, place: number, frame: Buffer): Promise<void> {
  const before = await stateOf(host, place);
  await host.writeBytes(place, frame);
  await host.mustShow({ frame_refused: true });
  await effect(host);
  const after = await stateOf(host, place);
  same(`refused after ${frame.toString('hex')}`, after.refused, (before.refused + 1) & 0xff);
  same(`state after ${frame.toString('hex')}`, after.lasting, before.lasting);
}

/** Checks that each of these data is refused, with a right CRC. */
function refusesData(place: number, ...data: readonly Buffer[]): Step {
  return async host => {
    for (const one of data) await isRefused(host, place, host.sealed(place, one));
  };
}

/** Checks that a frame with these values and a right CRC is refused. */
function refuses(register: Register, values: Values): Step {
  return refusesData(register.address, dataOf(register, { ...HARMLESS, ...values }));
}

/** Checks that a frame with this CRC is refused. */
function refusesCrc(register: Register, crc: (data: Buffer) => number): Step {
  const data = dataOf(register, HARMLESS);
  return host => isRefused(host, register.address, Buffer.concat([data, Buffer.of(crc(data))]));
}

/** Checks that a frame that is only read is refused, and a writable one with a byte too few or too many. */
function refusesLength(register: Register): Step {
  const data = dataOf(register, HARMLESS);
  if (register.access === 'read') return refusesData(register.address, data);
  return refusesData(register.address, data.subarray(1), Buffer.concat([data, Buffer.alloc(1)]));
}

const badFrame: Step = host => host.writeBytes(NOWHERE, Buffer.of(1, 2));

/** What is refused. */
export function refusalChecks(unit: Unit): readonly Check[] {
  const [first] = unit.loops;
  const slot = first?.slot ?? 0;
  const map = registerMap(unit).filter(({ name }) => !name.startsWith('gains') || name === `gains_${slot}`);
  const writable = map.filter(({ access }) => access !== 'read');
  const floats = writable.flatMap(register =>
    register.fields
      .filter(({ type }) => type === 'f32')
      .map(({ name: field }) => ({ register, field, name: `NaN as ${field} of ${register.name}` })),
  );
  const refusesWave =
    (values: Values): Step =>
    async host => {
      for (const one of [excitation, guarded_excitation]) await refuses(one, { slot, ...values })(host);
    };
  return listed({
    'its CRC is wrong': each(writable, one =>
      refusesCrc(one, data => crc8(unit.address, one.address, data) ^ 0x10),
    ),
    'It runs over the 7-bit address (not shifted), the register, and the data.': {
      'the address': refusesCrc(mode, data => crc8(unit.address ^ 1, mode.address, data)),
      'the register': refusesCrc(mode, data => crc8(unit.address, stop.address, data)),
    },
    'its length is not that of a frame at this offset, or the offset has no frame or one that is only read': {
      ...each(map, refusesLength),
      'a long frame': refusesData(mode.address, Buffer.alloc(31)),
      'the middle of a frame': refusesData(mode.address + 1, Buffer.alloc(1)),
    },
    'Writing to an offset without a frame is refused.': refusesData(NOWHERE, Buffer.of(1)),
    'a field has a value that its table does not list': {
      'mode 3': refuses(mode, { mode: 3 }),
      'stop 2': refuses(stop, { stop: 2 }),
    },
    'a float is not finite (NaN or infinity)': {
      ...each(floats, ({ register, field }) => refuses(register, { slot, [field]: Number.NaN })),
      'infinity as kd': refuses(gainsRegister(slot), { kd: Number.NEGATIVE_INFINITY }),
      'infinity as period': refuses(excitation, { slot, period_s: Number.POSITIVE_INFINITY }),
    },
    'a gains frame or an excitation names a slot in which this unit runs no loop': {
      gains: refuses(gainsRegister(unit.loops.length), { kp: 1, ki: 1, kd: 1 }),
      'an excitation': refusesWave({ slot: unit.loops.length }),
    },
    "an excitation's amplitude is outside 0 to the loop's largest amplitude, or its period is outside 0.1 s to 20 s.":
      {
        'a negative amplitude': refusesWave({ amplitude: -0.01 }),
        'a large amplitude': refusesWave({ amplitude: (first?.maxAmplitude ?? 0) * 1.001 }),
        'a short period': refusesWave({ period_s: 0.0999 }),
        'a long period': refusesWave({ period_s: 20.01 }),
      },
    'a deviation is negative': refuses(guarded_excitation, { slot, deviation: -0.001 }),
    'Frames refused since start, for their CRC or a value; wraps.': keeps('refused', repeat(256, badFrame)),
    'with a refused frame | 1 s after the last refused frame': [
      badFrame,
      shows({ frame_refused: true }, 900),
      shows({ frame_refused: false }, 200),
    ],
  });
}
