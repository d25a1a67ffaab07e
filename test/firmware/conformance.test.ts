import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SimulatedBus } from '../../sim/bus/simulated-bus.js';
import { type Controller, SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { createCoreRobot } from '../../sim/pico/core-robot.js';
import { createPico } from '../../sim/pico/pico-robot.js';
import { createPhysics } from '../../sim/robot-physics.js';
import { conformanceCommand, reportOf } from '../../src/command/conformance-command.js';
import { loadConfig } from '../../src/config/config.js';
import { type Conformance, conformance, NOT_ASKED, stillChecks } from '../../src/conformance/conformance.js';
import { Host } from '../../src/conformance/host.js';
import { movingChecks } from '../../src/conformance/moving-checks.js';
import { RobotError } from '../../src/core/errors.js';
import {
  defaultGains,
  type GainSet,
  type Loop,
  UNIT_LIST,
  type Unit,
  unitNamed,
} from '../../src/core/units.js';
import type { I2cBus } from '../../src/hardware/ports.js';
import { crc8, encodeFrame, gainsChecksum } from '../../src/protocol/codec.js';
import {
  FAULTS,
  FLAGS,
  frameBytes,
  gainsRegister,
  REGISTERS,
  type Register,
  registerMap,
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
    if (hasGains) await host.rest();
    if (hasGains) await host.giveGains(defaultGains(unit));
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

/** Whether a frame that can be read covers the offset. */
const isFrame = (place: number) =>
  registerMap(gimbal).some(one => place >= one.address && place < one.address + frameBytes(one));

const { status, build, mode, stop, heartbeat, excitation, guarded_excitation, capture_select } = REGISTERS;

/** Changes that make the firmware wrong, by the sentence whose check must notice them. */
const WRONG_FIRMWARES: Readonly<Record<string, Readonly<Record<string, Change>>>> = {
  'its CRC is wrong': {
    'takes frames with a wrong CRC': ({ write }) => ({
      write: (place, data) => write(place, sealed(place, data.subarray(0, -1))),
    }),
  },
  'its length is not that of a frame at this offset, or the offset has no frame or one that is only read': {
    'takes a frame with a byte too many': ({ write }) => ({
      write: (place, data) =>
        write(place, place === heartbeat.address ? sealed(place, data.subarray(0, 3)) : data),
    }),
  },
  'a float is not finite (NaN or infinity)': {
    'counts no refused frame': shows(status, data => data.fill(0, 13, 14)),
  },
  'The latch stays until it is released, whatever else happens on the bus, and however long the host is away.':
    {
      'releases its latch with a mode': adds(mode, stop, () => Buffer.of(0)),
    },
  '`silence_ms` in a heartbeat is how long the controller waits for the next one.': {
    'is never silent': showsBit('silent', 0),
  },
  'Only heartbeats count. Other frames do not.': {
    'takes each mode for a heartbeat': adds(mode, heartbeat, () => Buffer.of(0, 100, 0)),
  },
  'Entering `debug` from another mode sets the amplitude to 0, so that nothing moves until the host asks for it.':
    {
      'keeps the wave in debug': adds(mode, excitation, () =>
        encodeFrame(gimbal.address, excitation, { slot: 0, amplitude: 0.2, period_s: 2 }).subarray(0, -1),
      ),
    },
  'Writing `excitation` sets the deviation to 0.': {
    'keeps the guard with the short frame': adds(excitation, guarded_excitation, wave =>
      Buffer.concat([wave.subarray(0, -1), Buffer.of(0, 0, 0, 0x3f)]),
    ),
  },
  'Offsets that hold no frame, and frames that are only written, read as 0.': {
    'reads 0xff between its frames': ({ read }) => ({
      read: (place, length) =>
        read(place, length).map((byte, index) =>
          isFrame((place + index) % SPACE_BYTES) ? byte : 0xff,
        ) as Buffer,
    }),
  },
  'After a frame it continues with the bytes that follow, and after offset 255 with those from 0.': {
    'ends a read at 255': ({ read }) => ({
      read: (place, length) => read(place, length).fill(0, Math.min(length, SPACE_BYTES - place)),
    }),
  },
  'A gains frame reads as it was last staged, also after a commit.': {
    'forgets the staged gains with a commit': ({ read }) => ({
      read: (place, length) => {
        const isStaged = ({ slot }: Loop) => (read(status.address, 16)[12]! & (1 << slot)) !== 0;
        const loop = gimbal.loops.find(({ slot }) => gainsRegister(slot).address === place);
        return loop === undefined || isStaged(loop) ? read(place, length) : sealed(place, Buffer.alloc(12));
      },
    }),
  },
  '`sequence` goes up by one when a snapshot is read for the first time.': {
    'counts each read of its telemetry twice': shows(telemetryRegister(gimbal), data =>
      data.writeUInt8((2 * data[0]!) & 0xff),
    ),
  },
  'Never set bit 4.': { 'sets the flag of 0.2.0': showsBit('withdrawn_guard', 1) },
  'Without the flag, the register reads as 0.': {
    'announces no register `build`': showsBit('build', 0),
    'damages its register `build`': ({ read }) => ({
      read: (place, length) =>
        place === build.address ? read(place, length).fill(1, 0, 1) : read(place, length),
    }),
  },
  'The commit is judged when its stop arrives: `staged` becomes 0, or `commit_refused` shows, at once.': {
    'shows no refused commit': showsBit('commit_refused', 0),
  },
  'A selection is in force at the next transaction.': {
    'selects the same page always': adds(capture_select, capture_select, () => Buffer.of(1)),
  },
  'Writing to an offset without a frame is refused.': {
    'acknowledges no frame that it refuses': ({ read, write }) => ({
      write: (place, data) => {
        const before = read(status.address, 16)[13];
        write(place, data);
        if (read(status.address, 16)[13] !== before)
          throw new RobotError('nack', { bus: 1, errno: 121, cure: undefined });
      },
    }),
  },
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
        const { controller, step } = subject(unit);
        const found = await asked({ controller, step }, { moves: true });
        expect(brokenIn(found)).to.deep.equal([]);
        const still = stillChecks(unit).length;
        expect(still).to.be.at.least(60);
        expect(found.asked.length).to.be.greaterThan(still + movingChecks(unit).length);
        expect(found.end).to.equal('The controller is latched: the daemon will start stopped.');
        const { gains, ...truth } = controller.truth();
        expect(truth).to.include({ stopped: true, torque: false, mode: 'manual' });
        expect(gainsChecksum(unit, gains as GainSet)).to.equal(gainsChecksum(unit, defaultGains(unit)));
      });
    }

  it('give no torque without --move', async () => {
    let torques = 0;
    const subject = simulated(gimbal);
    const interruptWhen = () => {
      if (subject.controller.truth().torque === true) torques += 1;
      return false;
    };
    expect(brokenIn(await asked(subject, { interruptWhen }))).to.deep.equal([]);
    expect(torques).to.equal(0);
    await asked(subject, { moves: true, interruptWhen });
    expect(torques).to.be.greaterThan(0);
  });

  it('do not move a controller without gains', async () => {
    const { refused } = await asked(simulated(gimbal), { moves: true, hasGains: false });
    expect(refused).to.include('no gains');
  });

  it('end latched when they are interrupted while the unit moves', async () => {
    const subject = simulated(gimbal);
    const { controller } = subject;
    let torqueMs = 0;
    const interruptWhen = () => {
      if (controller.truth().torque === true) torqueMs += 1;
      return torqueMs === 1000;
    };
    const { end } = await asked(subject, { moves: true, interruptWhen });
    expect(torqueMs).to.be.within(1000, 1100);
    expect(end).to.match(/^Interrupted. The controller is latched/);
    expect(controller.truth()).to.include({ stopped: true, torque: false });
  });

  for (const [says, changes] of Object.entries(WRONG_FIRMWARES))
    for (const [name, change] of Object.entries(changes))
      it(`find firmware that ${name}`, async () => {
        const found = await asked(wrong(change));
        const { exitCode, text } = reportOf(found, false);
        expect(brokenIn(found).map(one => one.says)).to.include(says);
        expect(exitCode).to.equal(1);
        expect(text).to.include(`WRONG  ${says}`);
      });

  for (const [why, open, text] of [
    [
      'while the daemon has the bus',
      () => Promise.reject(new RobotError('bus-in-use', { bus: 1 })),
      'bus-in-use',
    ],
    [
      'if the person does not agree',
      () => Promise.resolve({ ...unused, close: async () => undefined }),
      'nothing has moved',
    ],
  ] as const)
    it(`send nothing ${why}`, async () => {
      const said = conformanceCommand(gimbal, open, defaults, async () => false).then(
        ({ text, exitCode }) => `${exitCode} ${text}`,
        error => `1 ${error.code}`,
      );
      expect(await said)
        .to.match(/^1 /)
        .and.include(text);
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
