import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SimulatedBus } from '../../sim/bus/simulated-bus.js';
import { type Controller, SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { createCoreRobot } from '../../sim/pico/core-robot.js';
import { createPico } from '../../sim/pico/pico-robot.js';
import { createPhysics } from '../../sim/robot-physics.js';
import { conformanceCommand, reportOf } from '../../src/command/conformance-command.js';
import { loadConfig } from '../../src/config/config.js';
import { giveGains, rest, steps } from '../../src/conformance/check.js';
import { type Conformance, conformance, NOT_ASKED, stillChecks } from '../../src/conformance/conformance.js';
import { Host } from '../../src/conformance/host.js';
import { movingChecks } from '../../src/conformance/moving-checks.js';
import { RobotError } from '../../src/core/errors.js';
import { defaultGains, type GainSet, UNIT_LIST, type Unit, unitNamed } from '../../src/core/units.js';
import type { I2cBus } from '../../src/hardware/ports.js';
import { crc8, gainsChecksum } from '../../src/protocol/codec.js';
import {
  FAULTS,
  FLAGS,
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
  SPACE_BYTES,
  telemetryRegister,
} from '../../src/protocol/registers.js';
import { ManualClock } from '../support/manual-clock.js';
import { core as module } from './core.js';

const gimbal = unitNamed('gimbal');

/** A controller of the simulated robot. `step` advances the robot's mechanics by one loop period. */
interface Subject {
  readonly controller: Controller;
  readonly step: () => void;
}

/** The gimbal has the register `build`, the chassis has none. */
function simulated(unit: Unit): Subject {
  const { loops, step } = createPhysics({ seed: 1 });
  const build = unit === gimbal ? { image_crc: 0x12345678, longest_loop_us: 131, reset_cause: 1 } : undefined;
  return { controller: new SimulatedController(unit, loops[unit.name], 1000, 1, build), step };
}

function core(unit: Unit): Subject {
  const { physics, controller } = createCoreRobot(module, { seed: 1 });
  return { controller: controller(unit), step: () => physics.step() };
}

function image(unit: Unit): Subject {
  const { pico } = createPico(unit, module, { seed: 1 });
  return { controller: pico, step: () => undefined };
}

/** The time that a transaction takes. */
const FRAME_MS = 0.3;

interface Settings {
  readonly moves?: boolean;
  readonly hasGains?: boolean;
  /** The person presses Ctrl-C when this holds. Called after each loop period. */
  readonly interruptWhen?: () => boolean;
}

function asked(
  { controller, step }: Subject,
  { moves = false, hasGains = true, interruptWhen = () => false }: Settings = {},
): Promise<Conformance> {
  const { unit } = controller;
  const clock = new ManualClock();
  const interrupt = new AbortController();
  let worldMs = 0;
  const beforeEach = () => {
    for (; worldMs + 1 <= clock.nowMs(); worldMs += 1) {
      controller.tick();
      step();
      if (interruptWhen()) interrupt.abort();
    }
  };
  const simulatedBus = new SimulatedBus({ controllers: [controller], clock, beforeEach });
  const frame = () => new Promise<void>(resolve => clock.after(FRAME_MS, resolve));
  const bus: I2cBus = {
    readBlock: (...read) => frame().then(() => simulatedBus.readBlock(...read)),
    writeBlock: (...write) => frame().then(() => simulatedBus.writeBlock(...write)),
  };
  const run = async () => {
    const host = new Host(unit, bus, clock, interrupt.signal);
    if (hasGains) await steps(rest, giveGains(unit, defaultGains(unit)))(host);
    return conformance({ unit, bus, clock, moves, signal: interrupt.signal });
  };
  return clock.during(run(), 600_000);
}

const brokenIn = ({ asked }: Conformance) => asked.filter(({ seen }) => seen !== undefined);

/** Replaces functions of a controller. Gets the functions that it had before. */
type Change = (right: Pick<Controller, 'read' | 'write'>) => Partial<Controller>;

/** A simulated gimbal that breaks the protocol. */
function wrong(change: Change): Subject {
  const { controller, step } = simulated(gimbal);
  const right = { read: controller.read.bind(controller), write: controller.write.bind(controller) };
  return { controller: Object.assign(controller, change(right)), step };
}

function sealed(place: number, data: Buffer): Buffer {
  return Buffer.concat([data, Buffer.of(crc8(gimbal.address, place, data))]);
}

/** Changes the bytes of one register in each read that begins with it. */
function shows(register: Register, change: (data: Buffer) => void): Change {
  return ({ read }) => ({
    read: (place, length) => {
      const bytes = read(place, length);
      const end = frameBytes(register) - 1;
      if (place !== register.address || length <= end) return bytes;
      change(bytes);
      return Buffer.concat([sealed(place, bytes.subarray(0, end)), bytes.subarray(end + 1)]);
    },
  });
}

/** Changes one flag or fault of the status. */
function showsBit(name: string, value: 0 | 1): Change {
  const bits: readonly string[] = [...FLAGS, ...Array(8 - FLAGS.length).fill(''), ...FAULTS];
  const [byte, bit] = [5 + (bits.indexOf(name) >> 3), 1 << (bits.indexOf(name) & 7)];
  return shows(status, data => {
    data[byte] = value === 1 ? data[byte]! | bit : data[byte]! & ~bit;
  });
}

/** Writes a second frame after each write to the register. */
function adds(register: Register, place: Register, data: (written: Buffer) => Buffer): Change {
  return ({ write }) => ({
    write: (address, written) => {
      write(address, written);
      if (address === register.address) write(place.address, sealed(place.address, data(written)));
    },
  });
}

/** Changes one byte wherever it is read. The CRC of its frame stays. */
function readsByte(at: number, value: number): Change {
  return ({ read }) => ({
    read: (place, length) => {
      const bytes = read(place, length);
      if (at >= place && at < place + length) bytes[at - place] = value;
      return bytes;
    },
  });
}

const { status, build, mode, stop, heartbeat, excitation, guarded_excitation, commit, capture_select } =
  REGISTERS;
/** The data of a wave of the first loop: 0.125 rad, 2 s. */
const WAVE = Buffer.from('000000003e00000040', 'hex');
/** 0.5 as it is on the wire. */
const HALF = Buffer.from('0000003f', 'hex');

/** What firmware does wrong, the beginning of the sentence whose check must notice it, and how it does it. */
const WRONG_FIRMWARES: Readonly<Record<string, readonly [says: string, change: Change]>> = {
  'takes frames with a wrong CRC': [
    'its CRC is wrong',
    ({ write }) => ({ write: (place, data) => write(place, sealed(place, data.subarray(0, -1))) }),
  ],
  'takes a heartbeat with a byte too many': [
    'its length is not that of a frame',
    ({ write }) => ({
      write: (place, data) =>
        write(
          place,
          place === heartbeat.address && data.length > 4 ? sealed(place, data.subarray(0, 3)) : data,
        ),
    }),
  ],
  'counts no refused frame': ['a float is not finite', shows(status, data => data.fill(0, 13, 14))],
  'releases its latch with a mode': ['The latch stays', adds(mode, stop, () => Buffer.of(0))],
  'is never silent': ['`silence_ms` in a heartbeat', showsBit('silent', 0)],
  'takes a mode for a heartbeat': [
    'Only heartbeats count.',
    adds(mode, heartbeat, () => Buffer.of(0, 100, 0)),
  ],
  'keeps the wave in debug': ['Entering `debug`', adds(mode, excitation, () => WAVE)],
  'keeps the guard with the short frame': [
    'Writing `excitation` sets the deviation to 0.',
    adds(excitation, guarded_excitation, wave => Buffer.concat([wave.subarray(0, 9), HALF])),
  ],
  'reads 0xff between its frames': ['Offsets that hold no frame', readsByte(0x4e, 0xff)],
  'ends a read at 255': [
    'A read that goes past the end of a frame',
    ({ read }) => ({
      read: (place, length) => read(place, length).fill(0, Math.min(length, SPACE_BYTES - place)),
    }),
  ],
  'forgets staged gains with a commit': [
    'Reading a gains frame',
    adds(commit, gainsRegister(0), () => Buffer.alloc(12)),
  ],
  'counts its telemetry twice': [
    '`sequence` goes up by one',
    shows(telemetryRegister(gimbal), data => data.writeUInt8((2 * data[0]!) & 0xff)),
  ],
  'sets the flag of 0.2.0': ['Never set bit 4.', showsBit('withdrawn_guard', 1)],
  'announces no register `build`': ['Without the flag, the register reads as 0.', showsBit('build', 0)],
  'damages its register `build`': ['Without the flag, the register reads as 0.', readsByte(build.address, 1)],
  'shows no refused commit': ['The controller judges a commit', showsBit('commit_refused', 0)],
  'selects the same page always': [
    'A selection is in force',
    adds(capture_select, capture_select, () => Buffer.of(1)),
  ],
  'acknowledges no frame that it refuses': [
    'Writing to an offset without a frame',
    ({ read, write }) => ({
      write: (place, data) => {
        const refused = () => read(status.address, 16)[13];
        const before = refused();
        write(place, data);
        if (refused() !== before) throw new RobotError('nack', { bus: 1, errno: 121, cure: undefined });
      },
    }),
  ],
};

const unexpected = () => Promise.reject(new Error('a transaction'));
const unused: I2cBus = { readBlock: unexpected, writeBlock: unexpected };
const defaults = loadConfig(undefined, {}, { host: 'localhost', state: '/state' });

describe('the conformance checks', () => {
  const page = readFileSync('docs/motor-protocol.md', 'utf8').replaceAll(/\s+/g, ' ');

  for (const says of new Set([
    ...[...stillChecks(gimbal), ...movingChecks(gimbal)].map(one => one.says),
    ...Object.keys(NOT_ASKED),
  ]))
    it(`quote the page: ${says}`, () => expect(page).to.include(says));

  for (const unit of UNIT_LIST)
    for (const [name, subject] of Object.entries({ simulated, core, image })) {
      it(`hold for the ${unit.name} of the ${name} firmware`, async () => {
        const made = subject(unit);
        const found = await asked(made, { moves: true });
        expect(brokenIn(found)).to.deep.equal([]);
        const still = stillChecks(unit).length;
        expect(still).to.be.at.least(60);
        expect(found.asked.length).to.be.greaterThan(still + movingChecks(unit).length);
        expect(found.end).to.equal('The controller is latched: the daemon will start stopped.');
        const { gains, ...truth } = made.controller.truth();
        expect(truth).to.include({ stopped: true, torque: false, mode: 'manual' });
        expect(gainsChecksum(unit, gains as GainSet)).to.equal(gainsChecksum(unit, defaultGains(unit)));
      });
    }

  it('give no torque without --move', async () => {
    const subject = simulated(gimbal);
    const interruptWhen = () => subject.controller.truth().torque === true;
    const found = await asked(subject, { interruptWhen });
    expect(brokenIn(found)).to.deep.equal([]);
    expect(found.end).to.equal('The controller is latched: the daemon will start stopped.');
  });

  it('commit nothing to a controller that loses its latch', async () => {
    const subject = wrong(adds(gainsRegister(0), stop, () => Buffer.of(0)));
    const { end } = await asked(subject, { hasGains: false });
    expect(end).to.match(/^THE CONTROLLER MAY NOT BE LATCHED/);
    expect(subject.controller.truth()).to.include({ gains: null, torque: false });
  });

  it('do not move a controller without gains', async () => {
    const { refused } = await asked(simulated(gimbal), { moves: true, hasGains: false });
    expect(refused).to.include('no gains');
  });

  it('end latched when they are interrupted while the unit moves', async () => {
    const subject = simulated(gimbal);
    const { controller } = subject;
    let torqueMs = 0;
    const interruptWhen = () => controller.truth().torque === true && ++torqueMs === 1000;
    const { end } = await asked(subject, { moves: true, interruptWhen });
    expect(torqueMs).to.be.within(1000, 1100);
    expect(end).to.match(/^Interrupted. The controller is latched/);
    expect(controller.truth()).to.include({ stopped: true, torque: false });
  });

  for (const [name, [says, change]] of Object.entries(WRONG_FIRMWARES))
    it(`find firmware that ${name}`, async () => {
      const found = await asked(wrong(change));
      const { exitCode, text } = reportOf(found, false);
      expect(brokenIn(found).filter(one => one.says.startsWith(says))).to.not.deep.equal([]);
      expect(exitCode).to.equal(1);
      expect(text).to.include(`WRONG  ${says}`);
    });

  it('send nothing while the daemon has the bus', async () => {
    const open = () => Promise.reject(new RobotError('bus-in-use', { bus: 1 }));
    const command = conformanceCommand(gimbal, open, defaults, async () => true);
    expect(await command.catch(error => error.code)).to.equal('bus-in-use');
  });

  it('send nothing if the person does not agree', async () => {
    const open = async () => ({ ...unused, close: async () => undefined });
    const { exitCode, text } = await conformanceCommand(gimbal, open, defaults, async () => false);
    expect(exitCode).to.equal(1);
    expect(text).to.include('nothing has moved');
  });

  for (const hasFrames of [false, true])
    it(`call a plain memory no controller${hasFrames ? ', also with an identity' : ''}`, async () => {
      const subject = wrong(() => ({
        read: (place, length) => Buffer.from(memory.subarray(place, place + length)),
        write: (place, data) => void data.copy(memory, place),
      }));
      const memory = Buffer.alloc(SPACE_BYTES);
      if (hasFrames) simulated(gimbal).controller.read(0, SPACE_BYTES).copy(memory);
      const before = Buffer.from(memory);
      const found = await asked(subject, { hasGains: false });
      expect(found.refused).to.match(/^There is no controller at 0x20: /);
      expect(memory.equals(before)).to.equal(true);
      expect(reportOf(found, false)).to.include({ exitCode: 1 });
    });
});
