import { type ErrorCode, isRobotError } from '../core/errors.js';
import type { GainSet, Unit } from '../core/units.js';
import { FLOAT32_MAX, MODES } from '../core/units.js';
import { crc8, gainsChecksum } from '../protocol/codec.js';
import {
  capturePageRegister,
  FAULTS,
  FLAGS,
  frameBytes,
  gainsRegister,
  REGISTERS,
  SPACE_BYTES,
  telemetryRegister,
} from '../protocol/registers.js';
import { Differs, type Host, same, type Wave } from './host.js';

/**
 * A sentence of docs/motor-protocol.md, and a check of it over the bus. Rejects with Differs if the sentence does not
 * hold.
 */
export interface Check {
  readonly says: string;
  readonly about: string;
  readonly ask: (host: Host) => Promise<void>;
}

export function check(says: string, about: string, ask: Check['ask']): Check {
  return { says, about, ask };
}

const { status, build, mode, stop, heartbeat, commit, excitation, guarded_excitation, capture } = REGISTERS;
/** An offset that no frame covers. */
const NOWHERE = 0x4e;
const PAGE = capturePageRegister(1);

export function float(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeFloatLE(value, 4 * index);
  return bytes;
}

function wave(slot: number, amplitude: number, periodS: number): Buffer {
  return Buffer.concat([Buffer.of(slot), float(amplitude, periodS)]);
}

/** The state that a refused frame must not change. */
async function stateOf(host: Host, place: number) {
  const { refused, faults: _, flags, ...rest } = await host.status();
  const lasting = flags.filter(flag => flag !== 'target_visible');
  return {
    refused,
    lasting: { ...rest, flags: lasting, bytes: (await host.bytes(place, 13)).toString('hex') },
  };
}

async function isRefused(host: Host, place: number, frame: Buffer): Promise<void> {
  const before = await stateOf(host, place);
  await host.writeBytes(place, frame);
  same('frame_refused', (await host.status()).faults.includes('frame_refused'), true);
  await host.effect();
  const after = await stateOf(host, place);
  same('refused', after.refused, (before.refused + 1) & 0xff);
  same('after the frame', after.lasting, before.lasting);
}

/** A check that a frame with a right CRC is refused. */
function refuses(says: string, about: string, place: number, data: (unit: Unit) => Buffer): Check {
  return check(says, about, host => isRefused(host, place, host.sealed(place, data(host.unit))));
}

const LENGTH =
  'its length is not that of a frame at this offset, or the offset has no frame or one that is only read';
const VALUE = 'a field has a value that its table does not list';
const FINITE = 'a float is not finite (NaN or infinity)';
const SLOT = 'a gains frame or an excitation names a slot in which this unit runs no loop';
const WAVE =
  "an excitation's amplitude is outside 0 to the loop's largest amplitude, or its period is outside 0.1 s to 20 s.";
const IS_GUARDED = async (host: Host) => (await host.status()).flags.includes('guarded_excitation');

const firstOf = ({ loops: [first] }: Unit) => first?.slot ?? 0;
const largestOf = ({ loops: [first] }: Unit) => Math.fround(first?.maxAmplitude ?? 0);
const waveOf = (unit: Unit): Wave => ({ slot: firstOf(unit), amplitude: largestOf(unit), period_s: 2 });
const free = ({ loops }: Unit) => loops.length;

export function someGains({ loops }: Unit, kp = 1): GainSet {
  return Object.fromEntries(loops.map(({ name, slot }) => [name, { kp: kp + slot, ki: 0.5, kd: -2 }]));
}

async function silentAfter(host: Host, ms: number): Promise<boolean> {
  await host.wait(ms);
  return (await host.status()).faults.includes('silent');
}

/** Stages a whole set, and sends a commit that the controller cannot carry out. */
async function badCommit(host: Host): Promise<void> {
  await host.stage(someGains(host.unit, 3));
  await host.commit((gainsChecksum(host.unit, someGains(host.unit, 3)) ^ 1) >>> 0);
}

async function staysLatched(host: Host, act: () => Promise<void>): Promise<void> {
  await act();
  await host.effect();
  same('stop', (await host.read(stop)).stop, 1);
  same('stopped in status', (await host.status()).flags.includes('stopped'), true);
}

/** The sentence about the latch. If its check fails, no further check is safe. */
export const LATCH =
  'The latch stays until it is released, whatever else happens on the bus, and however long the host is away.';
const IN_FORCE =
  'mode, stop, excitation, commit: from the frame until it is in force, reads back and shows in `status` | 20 ms';

const WIRE: readonly Check[] = [
  // The first check, because the others rely on the latch. `auto` comes last, because it may move most.
  check(LATCH, 'modes', async host => {
    for (const name of ['manual', 'debug', 'auto'] as const) await staysLatched(host, () => host.enter(name));
  }),
  check('A read may have any length, also more than 32 bytes.', 'a part of a frame', async host => {
    const whole = await host.bytes(0, frameBytes(REGISTERS.identity));
    same('the first five bytes', await host.bytes(0, 5), whole.subarray(0, 5));
    same('from the sixth byte on', await host.bytes(5, 8), whole.subarray(5));
  }),
  check(
    'After a frame it continues with the bytes that follow, and after offset 255 with those from 0.',
    'status behind identity',
    async host => {
      const bytes = await host.bytes(0, 32);
      same('status', bytes.subarray(16, 20), await host.bytes(status.address, 4));
    },
  ),
  check(
    'After a frame it continues with the bytes that follow, and after offset 255 with those from 0.',
    'identity behind 255',
    async host => {
      same('identity', (await host.bytes(SPACE_BYTES - 3, 16)).subarray(3), await host.bytes(0, 13));
    },
  ),
  check(
    'Offsets that hold no frame, and frames that are only written, read as 0.',
    'no frame',
    async host => {
      same('bytes', await host.bytes(NOWHERE, 2), Buffer.alloc(2));
      same('bytes', await host.bytes(13, 3), Buffer.alloc(3));
    },
  ),
  ...[heartbeat, commit, REGISTERS.capture_select].map(one =>
    check('Offsets that hold no frame, and frames that are only written, read as 0.', one.name, async host =>
      same('bytes', await host.bytes(one.address, frameBytes(one)), Buffer.alloc(frameBytes(one))),
    ),
  ),
  check(
    'All bytes of a frame that is read come from one snapshot, taken at the repeated start or later.',
    'telemetry',
    async host => {
      const register = telemetryRegister(host.unit);
      for (let count = 0; count < 30; count += 1) await host.read(register);
    },
  ),
  check('Transactions to one controller may follow each other without a pause.', 'status', async host => {
    for (let count = 0; count < 50; count += 1) await host.read(status);
  }),
  check('a frame that was written reads back as the same bytes.', 'gains', async host => {
    const { address } = gainsRegister(firstOf(host.unit));
    const frame = host.sealed(address, float(1, -0.25, 1e-20));
    await host.writeBytes(address, frame);
    same('bytes', await host.bytes(address, 13), frame);
  }),
  check('Reserved bits are 0.', 'status', async host => {
    const { flags, faults } = await host.read(status);
    same('flags', flags >> FLAGS.length, 0);
    same('faults', faults >> FAULTS.length, 0);
  }),
  check('Without the flag, the register reads as 0.', 'build', async host => {
    if ((await host.status()).flags.includes('build')) await host.read(build);
    else same('bytes', await host.bytes(build.address, frameBytes(build)), Buffer.alloc(frameBytes(build)));
  }),
  check('Never set bit 4.', 'flags', async host =>
    same('withdrawn_guard', (await host.status()).flags.includes('withdrawn_guard'), false),
  ),
];

const REFUSALS: readonly Check[] = [
  check('its CRC is wrong', 'mode', async host => {
    const frame = host.sealed(mode.address, Buffer.of(0));
    frame[1] = (frame[1] ?? 0) ^ 0x10;
    await isRefused(host, mode.address, frame);
  }),
  check(
    'It runs over the 7-bit address (not shifted), the register, and the data.',
    'the address',
    async host => {
      const crc = crc8(host.unit.address ^ 1, mode.address, Buffer.of(0));
      await isRefused(host, mode.address, Buffer.of(0, crc));
    },
  ),
  check(
    'It runs over the 7-bit address (not shifted), the register, and the data.',
    'the register',
    async host => {
      const crc = crc8(host.unit.address, stop.address, Buffer.of(0));
      await isRefused(host, mode.address, Buffer.of(0, crc));
    },
  ),
  refuses(LENGTH, 'a mode without data', mode.address, () => Buffer.alloc(0)),
  refuses(LENGTH, 'a mode with a byte too many', mode.address, () => Buffer.of(0, 0)),
  refuses(LENGTH, 'gains with four bytes too many', 0x80, () => float(1, 1, 1, 1)),
  refuses(LENGTH, 'a long frame', mode.address, () => Buffer.alloc(31)),
  refuses(LENGTH, 'identity', 0, () => Buffer.alloc(12)),
  refuses(LENGTH, 'status', status.address, () => Buffer.alloc(15)),
  refuses(LENGTH, 'the middle of a frame', mode.address + 1, () => Buffer.alloc(1)),
  refuses('Writing to an offset without a frame is refused.', 'no frame', NOWHERE, () => Buffer.of(1)),
  refuses(VALUE, 'mode 3', mode.address, () => Buffer.of(3)),
  refuses(VALUE, 'stop 2', stop.address, () => Buffer.of(2)),
  refuses(FINITE, 'NaN as kp', 0x80, () => float(Number.NaN, 0, 0)),
  refuses(FINITE, 'infinity as kd', 0x80, () => float(0, 0, Number.NEGATIVE_INFINITY)),
  refuses(FINITE, 'NaN as amplitude', excitation.address, unit => wave(firstOf(unit), Number.NaN, 1)),
  refuses(FINITE, 'infinity as period', excitation.address, unit => wave(firstOf(unit), 0, Infinity)),
  check(SLOT, 'gains', host => {
    const { address } = gainsRegister(free(host.unit));
    return isRefused(host, address, host.sealed(address, float(1, 1, 1)));
  }),
  refuses(SLOT, 'an excitation', excitation.address, unit => wave(free(unit), 0, 1)),
  refuses(WAVE, 'a negative amplitude', excitation.address, unit => wave(firstOf(unit), -0.01, 1)),
  refuses(WAVE, 'a large amplitude', excitation.address, unit =>
    wave(firstOf(unit), largestOf(unit) * 1.001, 1),
  ),
  refuses(WAVE, 'a short period', excitation.address, unit => wave(firstOf(unit), 0, 0.0999)),
  refuses(WAVE, 'a long period', excitation.address, unit => wave(firstOf(unit), 0, 20.01)),
  check('a deviation is negative', 'guarded_excitation', async host => {
    if (!(await IS_GUARDED(host))) return;
    const data = Buffer.concat([wave(firstOf(host.unit), 0, 1), float(-0.001)]);
    await isRefused(host, guarded_excitation.address, host.sealed(guarded_excitation.address, data));
  }),
  check('Frames refused since start, for their CRC or a value; wraps.', '256 frames', async host => {
    const before = await host.status();
    for (let count = 0; count < 256; count += 1) await host.writeBytes(NOWHERE, Buffer.of(1, 2));
    same('refused', (await host.status()).refused, before.refused);
  }),
  check('with a refused frame | 1 s after the last refused frame', 'frame_refused', async host => {
    await host.writeBytes(NOWHERE, Buffer.of(1, 2));
    const shown = async () => (await host.status()).faults.includes('frame_refused');
    await host.wait(900);
    same('after 900 ms', await shown(), true);
    await host.wait(200);
    same('after 1100 ms', await shown(), false);
  }),
];

const STATES: readonly Check[] = [
  ...MODES.map(name =>
    check(IN_FORCE, `mode ${name}`, async host => {
      await host.enter(name);
      same('mode', MODES[(await host.read(mode)).mode], name);
      same('mode in status', (await host.status()).mode, name);
    }),
  ),
  check(
    'A mode frame is accepted in every state, also while stopped, silent or without gains.',
    'silent',
    async host => {
      await host.heartbeat(20);
      same('silent', await silentAfter(host, 60), true);
      await host.enter('auto');
      same('mode', (await host.status()).mode, 'auto');
    },
  ),
  check(
    'Entering `debug` from another mode sets the amplitude to 0, so that nothing moves until the host asks for it.',
    'amplitude',
    async host => {
      await host.excite(waveOf(host.unit));
      await host.enter('debug');
      same('amplitude', (await host.read(excitation)).amplitude, 0);
    },
  ),
  check('Writing the mode in force changes nothing and must not disturb the loops.', 'debug', async host => {
    await host.enter('debug');
    await host.excite(waveOf(host.unit));
    await host.enter('debug');
    same('excitation', await host.read(excitation), waveOf(host.unit));
  }),
  check('An excitation is accepted in every mode.', 'manual', async host => {
    await host.excite(waveOf(host.unit));
    await host.effect();
    same('excitation', await host.read(excitation), waveOf(host.unit));
  }),
  check(
    'The limits are compared as float32.',
    'the largest amplitude of each loop, and both periods',
    async host => {
      for (const { slot, maxAmplitude } of host.unit.loops)
        for (const period_s of [0.1, 20].map(Math.fround)) {
          const largest = { slot, amplitude: Math.fround(maxAmplitude), period_s };
          await host.excite(largest);
          await host.effect();
          same('excitation', await host.read(excitation), largest);
        }
    },
  ),
  check(
    'Firmware that has the register `guarded_excitation` sets the flag of that name.',
    'flag and register',
    async host => {
      const { address } = guarded_excitation;
      const isThere = (await host.bytes(address, frameBytes(guarded_excitation))).some(byte => byte !== 0);
      same('flag', await IS_GUARDED(host), isThere);
    },
  ),
  ...[
    '`excitation` and `guarded_excitation` are the same wave.',
    'Reading either shows the wave that was written last.',
  ].map((says, index) =>
    check(says, index === 0 ? 'the longer frame is written' : 'the shorter frame is written', async host => {
      if (!(await IS_GUARDED(host))) return;
      const written = waveOf(host.unit);
      if (index === 0) await host.write(guarded_excitation, { ...written, deviation: 0.5 });
      else await host.excite(written);
      await host.effect();
      const { deviation, ...shown } = await host.read(guarded_excitation);
      same('both registers', [await host.read(excitation), shown], [written, written]);
      same('deviation', deviation, index === 0 ? 0.5 : 0);
    }),
  ),
  check('Writing `excitation` sets the deviation to 0.', 'after a guard', async host => {
    if (!(await IS_GUARDED(host))) return;
    await host.write(guarded_excitation, { ...waveOf(host.unit), deviation: 0.5 });
    await host.excite(waveOf(host.unit));
    await host.effect();
    same('deviation', (await host.read(guarded_excitation)).deviation, 0);
  }),
  check('Write `stopped`: torque off at once, latched.', 'torque', async host =>
    same('torque', (await host.status()).flags.includes('torque'), false),
  ),
  check(LATCH, 'a stop that is refused', host =>
    staysLatched(host, () => host.writeBytes(stop.address, Buffer.of(0, 0))),
  ),
  check(LATCH, 'silence of the host, and its return', host =>
    staysLatched(host, async () => {
      await host.heartbeat(20);
      await host.wait(100);
      await host.heartbeat(0);
    }),
  ),
  check(LATCH, 'a commit', host => staysLatched(host, () => host.giveGains(someGains(host.unit)))),
  check(
    '`silence_ms` in a heartbeat is how long the controller waits for the next one.',
    '200 ms',
    async host => {
      await host.heartbeat(200);
      same('silent after 100 ms', await silentAfter(host, 100), false);
      same('silent after 300 ms', await silentAfter(host, 200), true);
    },
  ),
  check('The next heartbeat clears both, and the unit continues in the same mode.', 'in auto', async host => {
    await host.enter('auto');
    await host.heartbeat(20);
    same('silent', await silentAfter(host, 60), true);
    await host.heartbeat(500);
    same('silent', await silentAfter(host, 20), false);
    same('mode', (await host.status()).mode, 'auto');
  }),
  check('0 means that the controller waits for ever.', '1.2 s', async host =>
    same('silent', await silentAfter(host, 1200), false),
  ),
  check('Only heartbeats count. Other frames do not.', 'modes and reads', async host => {
    await host.heartbeat(100);
    for (let count = 0; count < 8; count += 1) await host.enter('manual');
    same('silent', await silentAfter(host, 20), true);
  }),
];

const GAINS: readonly Check[] = [
  check('Staging changes nothing that runs.', 'active_checksum', async host => {
    const before = await host.status();
    await host.stage(someGains(host.unit, 7));
    await host.effect();
    same('active_checksum', (await host.status()).active_checksum, before.active_checksum);
  }),
  check('`capture_select`, staging: until it reads back | the next transaction', 'gains', async host => {
    for (const { slot } of host.unit.loops) {
      const gains = { kp: slot + 0.5, ki: -1, kd: 1e6 };
      await host.write(gainsRegister(slot), gains);
      same(`gains_${slot}`, await host.read(gainsRegister(slot)), gains);
    }
  }),
  check('One bit per slot: staged since the last commit or start.', 'staged', async host => {
    await host.giveGains(someGains(host.unit));
    let bits = 0;
    for (const loop of host.unit.loops) {
      await host.stage(someGains(host.unit), [loop]);
      bits |= 1 << loop.slot;
      same('staged', (await host.status()).staged, bits);
    }
  }),
  check(
    'A loop may be staged several times before the commit; the last one counts.',
    'three times',
    async host => {
      for (const kp of [8, 9]) await host.stage(someGains(host.unit, kp));
      await host.giveGains(someGains(host.unit, 10));
      same(
        'active_checksum',
        (await host.status()).active_checksum,
        gainsChecksum(host.unit, someGains(host.unit, 10)),
      );
    },
  ),
  check('Any finite gains are legal, negative ones included.', 'the largest', async host => {
    const largest = { kp: FLOAT32_MAX, ki: -FLOAT32_MAX, kd: -1e-38 };
    const wanted = { ...largest, kd: Math.fround(largest.kd) };
    await host.write(gainsRegister(firstOf(host.unit)), largest);
    same('gains', await host.read(gainsRegister(firstOf(host.unit))), wanted);
  }),
  check(IN_FORCE, 'a commit', async host => {
    await host.giveGains(someGains(host.unit, 2));
    const { active_checksum, flags } = await host.status();
    same('active_checksum', active_checksum, gainsChecksum(host.unit, someGains(host.unit, 2)));
    same('gains_committed', flags.includes('gains_committed'), true);
  }),
  check(
    'The commit is judged when its stop arrives: `staged` becomes 0, or `commit_refused` shows, at once.',
    'a good one',
    async host => {
      await host.stage(someGains(host.unit));
      await host.commit(gainsChecksum(host.unit, someGains(host.unit)));
      same('staged', (await host.status()).staged, 0);
    },
  ),
  check(
    'The commit is judged when its stop arrives: `staged` becomes 0, or `commit_refused` shows, at once.',
    'a wrong checksum',
    async host => {
      await badCommit(host);
      same('commit_refused', (await host.status()).faults.includes('commit_refused'), true);
    },
  ),
  check('The active gains and the staged gains stay as they are.', 'a wrong checksum', async host => {
    await host.giveGains(someGains(host.unit, 4));
    const before = await host.status();
    await badCommit(host);
    await host.effect();
    const after = await host.status();
    same('active_checksum', after.active_checksum, before.active_checksum);
    same('staged', after.staged, (1 << host.unit.loops.length) - 1);
    same('refused', after.refused, before.refused);
  }),
  check(
    'An incomplete set never becomes active: every loop must be staged again after each commit and after each start.',
    'one loop is missing',
    async host => {
      await host.giveGains(someGains(host.unit, 5));
      const { active_checksum } = await host.status();
      await host.stage(someGains(host.unit, 5), host.unit.loops.slice(1));
      await host.commit(gainsChecksum(host.unit, someGains(host.unit, 5)));
      const after = await host.status();
      same('commit_refused', after.faults.includes('commit_refused'), true);
      same('active_checksum', after.active_checksum, active_checksum);
    },
  ),
  check(
    'with a commit that cannot be carried out | with the next commit that is carried out',
    'commit_refused',
    async host => {
      await badCommit(host);
      await host.giveGains(someGains(host.unit));
      same('commit_refused', (await host.status()).faults.includes('commit_refused'), false);
    },
  ),
  check('A gains frame reads as it was last staged, also after a commit.', 'every loop', async host => {
    const gains = someGains(host.unit, 6);
    await host.giveGains(gains);
    for (const { name, slot } of host.unit.loops)
      same(`gains_${slot}`, await host.read(gainsRegister(slot)), gains[name]);
  }),
];

const READINGS: readonly Check[] = [
  check('`status.capture` always is the number in `capture`.', 'number', async host =>
    same('number', (await host.read(capture)).number, (await host.status()).capture),
  ),
  check(
    'Before the first capture, `capture` reads number 0, slot 0, the loop rate, decimation 1 and 0 samples',
    'header',
    async host => {
      const { loop_rate_hz: rate_hz } = await host.read(REGISTERS.identity);
      const header = await host.read(capture);
      if (header.number === 0)
        same('capture', header, { number: 0, slot: 0, rate_hz, decimation: 1, samples: 0 });
      else same('rate_hz', header.rate_hz, rate_hz);
    },
  ),
  check('A selection is in force at the next transaction.', 'pages', async host => {
    for (const page of [36, 0, 255]) {
      await host.write(REGISTERS.capture_select, { page });
      same('page', (await host.read(PAGE)).page, page);
    }
  }),
  check('Samples after the end of a capture are 0.', 'page 37', async host => {
    await host.write(REGISTERS.capture_select, { page: 37 });
    same('samples', await host.bytes(PAGE.address + 2, 28), Buffer.alloc(28));
  }),
  check(
    'Without torque, every loop shows its measured value as setpoint, and output 0. Visual loops show setpoint 0, and as output the direction of their axis.',
    'telemetry',
    async host => {
      await host.wait(100);
      const shown = await host.read(telemetryRegister(host.unit));
      for (const { name } of host.unit.loops) {
        const isVisual = name.startsWith('visual');
        same(`${name}.setpoint`, shown[`${name}.setpoint`], isVisual ? 0 : shown[`${name}.measured`]);
        if (!isVisual) same(`${name}.output`, shown[`${name}.output`], 0);
      }
    },
  ),
  check('Take a snapshot at least 100 times a second.', 'sequence', async host => {
    const register = telemetryRegister(host.unit);
    const { sequence = 0 } = await host.read(register);
    await host.wait(20);
    same('sequence after 20 ms', (await host.read(register)).sequence, (sequence + 1) & 0xff);
  }),
  check(
    '`sequence` goes up by one when a snapshot is read for the first time.',
    'after 100 ms',
    async host => {
      const register = telemetryRegister(host.unit);
      const { sequence = 0 } = await host.read(register);
      await host.wait(100);
      same('sequence', (await host.read(register)).sequence, (sequence + 1) & 0xff);
    },
  ),
  check('Never send −32768', 'telemetry', async host => {
    const frame = await host.bytes(
      telemetryRegister(host.unit).address,
      frameBytes(telemetryRegister(host.unit)),
    );
    for (let place = 1; place + 2 < frame.length; place += 2)
      same(`bytes ${place} and ${place + 1}`, frame.readInt16LE(place) === -0x8000, false);
  }),
  check(
    'no gains committed, none staged, `active_checksum` 0;',
    'active_checksum follows gains_committed',
    async host => {
      const { flags, active_checksum } = await host.status();
      if (!flags.includes('gains_committed')) same('active_checksum', active_checksum, 0);
    },
  ),
];

/** These checks move nothing, because the stop is latched. */
export const STILL_CHECKS: readonly Check[] = [...WIRE, ...REFUSALS, ...STATES, ...GAINS, ...READINGS];

/** Failures that mean that the bus works, but the controller does not. */
const OF_THE_CONTROLLER: readonly ErrorCode[] = ['nack', 'bad-frame', 'bus-io', 'bus-timeout'];

/** The text of a failed check. Rethrows errors that say nothing about the controller. */
export function seenIn(error: unknown): string {
  if (error instanceof Differs) return error.message;
  if (isRobotError(error) && OF_THE_CONTROLLER.includes(error.code))
    return `${error.code} ${JSON.stringify(error.context)}`;
  throw error;
}
