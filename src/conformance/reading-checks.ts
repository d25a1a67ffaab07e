import type { Unit } from '../core/units.js';
import {
  capturePageRegister,
  FAULTS,
  FLAGS,
  frameBytes,
  REGISTERS,
  type Register,
  registerMap,
  SPACE_BYTES,
  telemetryRegister,
} from '../protocol/registers.js';
import {
  type Check,
  each,
  ifHas,
  listed,
  OPTIONAL,
  reads,
  readsBack,
  shows,
  wait,
  withoutTorque,
  write,
} from './check.js';
import { type Procedure, same } from './host.js';

const { identity, status, build, capture, capture_select } = REGISTERS;
const PAGE = capturePageRegister(1);
/** The values of the frames that are written and read back. */
const WRITTEN: Readonly<Record<string, number>> = {
  ...{ mode: 2, stop: 1, kp: 1, ki: -0.25, kd: 1024 },
  ...{ slot: 1, period_s: 2, deviation: 0.5 },
};
/** An older command cannot know the bits and registers of a newer page, which need no new protocol version. */
const KNOWN = 'unless the firmware is newer than this command';

function readsWhatWasWritten(register: Register): Procedure {
  const values = register.fields.map(({ name }) => [name, WRITTEN[name] ?? 0]);
  const step = readsBack(register, Object.fromEntries(values));
  const optional = OPTIONAL.find(name => name === register.name);
  return optional === undefined ? step : ifHas(optional, step);
}

function readsZeros(register: Register): Procedure {
  return async host => {
    const bytes = await host.bytes(register.address, frameBytes(register));
    same(register.name, bytes, Buffer.alloc(bytes.length));
  };
}

/** A read of `count` bytes gives the same bytes as the long read that begins at `from`. */
function isPart(place: number, count: number, from: number, length: number): Procedure {
  return async host => {
    const offset = (place - from + SPACE_BYTES) % SPACE_BYTES;
    const long = await host.bytes(from, length);
    same('bytes', await host.bytes(place, count), long.subarray(offset, offset + count));
  };
}

/** What is read, and how. */
export function readingChecks(unit: Unit): readonly Check[] {
  const map = registerMap(unit);
  const telemetry = telemetryRegister(unit);
  const withAccess = (access: Register['access']) => map.filter(one => one.access === access);
  const isRead = (place: number) =>
    map.some(one => one.access !== 'write' && place >= one.address && place < one.address + frameBytes(one));
  const countsOneSnapshot =
    (ms: number): Procedure =>
    async host => {
      const { sequence = 0 } = await host.read(telemetry);
      await host.wait(ms);
      await host.take(reads(telemetry, { sequence: (sequence + 1) & 0xff }));
    };
  return listed({
    'A read may have any length, also more than 32 bytes.': [isPart(0, 5, 0, 13), isPart(5, 8, 0, 13)],
    'A read that goes past the end of a frame continues with the bytes at the next offsets. After offset 255 it continues at offset 0.':
      {
        'status behind identity': isPart(status.address, 4, 0, 32),
        'identity behind 255': isPart(0, 13, SPACE_BYTES - 3, 16),
      },
    'Offsets that hold no frame, and frames that are only written, read as 0.': {
      [KNOWN]: async host => {
        for (let place = 0; place < SPACE_BYTES; place += 32)
          for (const [index, byte] of (await host.bytes(place, 32)).entries())
            if (!isRead(place + index)) same(`byte ${place + index}`, byte, 0);
      },
      ...each(withAccess('write'), readsZeros),
    },
    'All bytes of a frame that is read come from one snapshot, taken at the repeated start or later.':
      Array<Procedure>(30).fill(reads(telemetry, {})),
    'Transactions to one controller may follow each other without a pause.': Array<Procedure>(50).fill(
      reads(status, {}),
    ),
    'a frame that was written reads back as the same bytes.': each(
      withAccess('read, write'),
      readsWhatWasWritten,
    ),
    'Reserved bits are 0.': {
      [KNOWN]: async host => {
        const { flags, faults } = await host.read(status);
        same('flags and faults', [flags >> FLAGS.length, faults >> FAULTS.length], [0, 0]);
      },
    },
    'Without the flag, the register reads as 0.': async host =>
      host.take((await host.status()).build ? reads(build, {}) : readsZeros(build)),
    'Never set bit 4.': shows({ withdrawn_guard: false }),
    '`status.capture` always is the number in `capture`.': async host =>
      host.take(shows({ capture: (await host.read(capture)).number })),
    'Before the first capture, `capture` reads number 0, slot 0, the loop rate, decimation 1 and 0 samples':
      async host => {
        const { loop_rate_hz: rate_hz } = await host.read(identity);
        const { number } = await host.read(capture);
        await host.take(
          reads(capture, { rate_hz, ...(number === 0 && { slot: 0, decimation: 1, samples: 0 }) }),
        );
      },
    'A selection is in force at the next transaction.': [36, 0, 255].flatMap(page => [
      write(capture_select, { page }),
      reads(PAGE, { page }),
    ]),
    'Samples after the end of a capture are 0.': [
      write(capture_select, { page: 37 }),
      async host => same('samples', await host.bytes(PAGE.address + 2, 28), Buffer.alloc(28)),
    ],
    'Without torque, every loop shows its measured value as setpoint, and output 0. Visual loops show setpoint 0, and as output the direction of their axis, within the limits of the loop.':
      [wait(100), withoutTorque],
    'Take a snapshot at least 100 times a second.': countsOneSnapshot(20),
    '`sequence` goes up by one when a snapshot is read for the first time.': countsOneSnapshot(100),
    'A read of any byte of the frame counts.': async host => {
      const { sequence = 0 } = await host.read(telemetry);
      await host.take([wait(20), async () => void (await host.bytes(telemetry.address + 9, 1)), wait(20)]);
      await host.take(reads(telemetry, { sequence: (sequence + 2) & 0xff }));
    },
    '`loop_rate_hz` is at least 100': async host => {
      const { loop_rate_hz } = await host.read(identity);
      same(`a rate of ${loop_rate_hz} Hz`, loop_rate_hz >= 100, true);
    },
    'Never send −32768': async host => {
      const frame = await host.bytes(telemetry.address, frameBytes(telemetry));
      for (let place = 1; place + 2 < frame.length; place += 2)
        same(`bytes ${place} and ${place + 1}`, frame.readInt16LE(place) === -0x8000, false);
    },
  });
}
