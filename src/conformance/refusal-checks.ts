import { MAX_HOLD_MS, type Unit } from '../core/units.js';
import { crc8 } from '../protocol/codec.js';
import {
  CRC_BYTES,
  FLAGS,
  frameBytes,
  gainsRegister,
  motionRegister,
  REGISTERS,
  type Register,
  registerMap,
  SCALAR_BYTES,
} from '../protocol/registers.js';
import { type Check, each, effect, keeps, listed, shows } from './check.js';
import { type Host, type Procedure, same } from './host.js';

type Values = Readonly<Record<string, number>>;

const { status, mode, stop, excitation, guarded_excitation } = REGISTERS;
/** An offset that no frame covers. */
export const NOWHERE = 0x4e;
/** With these values, a frame that should have been refused takes no torque and gives none. */
const HARMLESS = { stop: 1, period_s: 1 };

/** The data of a frame. Fields that are not given are harmless. The values need not be allowed ones. */
function dataOf(register: Register, given: Values = {}): Buffer {
  const data = Buffer.alloc(frameBytes(register) - CRC_BYTES);
  const values: Values = { ...HARMLESS, ...given };
  let offset = 0;
  for (const { name, type } of register.fields) {
    if (type === 'f32') data.writeFloatLE(values[name] ?? 0, offset);
    else data.writeUIntLE(values[name] ?? 0, offset, SCALAR_BYTES[type]);
    offset += SCALAR_BYTES[type];
  }
  return data;
}

/** The state that a refused frame must not change. */
async function stateOf(host: Host, place: number) {
  const { refused, faults: _, flags, ...rest } = await host.read(status);
  const lasting = flags & ~(1 << FLAGS.indexOf('target_visible'));
  // The registers below `mode` are only read, and some of them change by themselves.
  const bytes = place < mode.address ? '' : (await host.bytes(place, 13)).toString('hex');
  return { refused, lasting: { ...rest, flags: lasting, bytes } };
}

function refusesFrame(place: number, frame: Buffer): Procedure {
  return async host => {
    const before = await stateOf(host, place);
    await host.writeBytes(place, frame);
    await host.take([shows({ frame_refused: true }), effect]);
    const after = await stateOf(host, place);
    same(`refused after ${frame.toString('hex')}`, after.refused, (before.refused + 1) & 0xff);
    same(`state after ${frame.toString('hex')}`, after.lasting, before.lasting);
  };
}

const badFrame: Procedure = host => host.writeBytes(NOWHERE, Buffer.of(1, 2));
const badFrames = Array<Procedure>(256).fill(badFrame);

/** What is refused. */
export function refusalChecks(unit: Unit): readonly Check[] {
  const [{ maxAmplitude } = { maxAmplitude: 0 }] = unit.loops;
  const noSlot = unit.loops.length;
  const map = registerMap(unit).filter(({ name }) => !name.startsWith('gains') || name === 'gains_0');
  const writable = map.filter(({ access }) => access !== 'read');
  const floatsOf = ({ fields }: Register) => fields.filter(({ type }) => type === 'f32');
  const crcOf = (place: number, data: Buffer) => crc8(unit.address, place, data);
  const refusesData = (place: number, data: Buffer, crc = crcOf(place, data)) =>
    refusesFrame(place, Buffer.concat([data, Buffer.of(crc)]));
  const refuses = (register: Register, values: Values = {}) =>
    refusesData(register.address, dataOf(register, values));
  const refusesBoth = (values: Values) => [refuses(excitation, values), refuses(guarded_excitation, values)];
  const refusesLength = (register: Register) => {
    const data = dataOf(register);
    const others = [data.subarray(1), Buffer.concat([data, Buffer.alloc(1)])];
    return (register.access === 'read' ? [data] : others).map(one => refusesData(register.address, one));
  };
  const auto = dataOf(mode);
  return listed({
    'its CRC is wrong': each(writable, register =>
      refusesData(register.address, dataOf(register), crcOf(register.address, dataOf(register)) ^ 0x10),
    ),
    'It runs over the 7-bit address (not shifted), the register, and the data.': {
      'the address': refusesData(mode.address, auto, crc8(unit.address ^ 1, mode.address, auto)),
      'the register': refusesData(mode.address, auto, crcOf(stop.address, auto)),
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
    'a float is not finite (NaN or infinity)': each(
      writable.filter(register => floatsOf(register).length > 0),
      register =>
        floatsOf(register).flatMap(({ name }) =>
          [Number.NaN, Number.NEGATIVE_INFINITY].map(value => refuses(register, { [name]: value })),
        ),
    ),
    'a gains frame or an excitation names a slot in which this unit runs no loop': {
      gains: refuses(gainsRegister(noSlot), { kp: 1, ki: 1, kd: 1 }),
      'an excitation': refusesBoth({ slot: noSlot }),
    },
    "an excitation's amplitude is outside 0 to the loop's largest amplitude, or its period is outside 0.1 s to 20 s.":
      {
        'a negative amplitude': refusesBoth({ amplitude: -0.01 }),
        'a large amplitude': refusesBoth({ amplitude: maxAmplitude * 1.001 }),
        'a short period': refusesBoth({ period_s: 0.0999 }),
        'a long period': refusesBoth({ period_s: 20.01 }),
      },
    'a deviation is negative': refuses(guarded_excitation, { deviation: -0.001 }),
    'A frame with a longer hold is refused.': refuses(motionRegister(unit), { hold_ms: MAX_HOLD_MS + 1 }),
    'Frames refused since start, for their CRC or a value; wraps.': keeps('refused', badFrames),
    'with a refused frame | 1 s after the last refused frame': [
      [badFrame, shows({ frame_refused: true }, 900)],
      shows({ frame_refused: false }, 200),
    ],
  });
}
