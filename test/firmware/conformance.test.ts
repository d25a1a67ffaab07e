import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SimulatedBus } from '../../sim/bus/simulated-bus.js';
import { type Controller, SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { createCoreRobot } from '../../sim/pico/core-robot.js';
import { createPico } from '../../sim/pico/pico-robot.js';
import { createPhysics } from '../../sim/robot-physics.js';
import { conformanceCommand, reportOf } from '../../src/command/conformance-command.js';
import { loadConfig } from '../../src/config/config.js';
import { STILL_CHECKS } from '../../src/conformance/checks.js';
import { type Conformance, conformance, NOT_ASKED } from '../../src/conformance/conformance.js';
import { Host } from '../../src/conformance/host.js';
import { MOVING_CHECKS } from '../../src/conformance/moving-checks.js';
import { RobotError } from '../../src/core/errors.js';
import { defaultGains, type GainSet, UNIT_LIST, type Unit, unitNamed } from '../../src/core/units.js';
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
  /** The person presses Ctrl-C when this holds. */
  readonly interruptWhen?: () => boolean;
}

async function asked(
  { controller, step }: Subject,
  { moves = false, hasGains = true, interruptWhen }: Settings = {},
): Promise<Conformance> {
  const { unit } = controller;
  const clock = new ManualClock();
  let worldMs = 0;
  const interrupt = new AbortController();
  const beforeEach = () => {
    for (; worldMs + 1 <= clock.nowMs(); worldMs += 1) {
      controller.tick();
      step();
      if (interruptWhen?.() === true) interrupt.abort();
    }
  };
  const simulatedBus = new SimulatedBus({ controllers: [controller], clock, beforeEach });
  const frame = () => new Promise<void>(resolve => clock.after(FRAME_MS, resolve));
  const bus: I2cBus = {
    readBlock: (...read) => frame().then(() => simulatedBus.readBlock(...read)),
    writeBlock: (...write) => frame().then(() => simulatedBus.writeBlock(...write)),
  };
  const questions = { unit, bus, clock, moves, signal: interrupt.signal };
  const host = new Host(unit, bus, clock, interrupt.signal);
  const run = async () => {
    if (hasGains) {
      await host.rest();
      await host.giveGains(defaultGains(unit));
    }
    return conformance(questions);
  };
  return clock.during(run(), 600_000);
}

const brokenIn = ({ asked }: Conformance) => asked.filter(({ seen }) => seen !== undefined);

/** A simulated controller in which `change` replaces functions, so that it breaks the protocol. */
function wrong(unit: Unit, change: (controller: Controller) => Partial<Controller>): Subject {
  const { controller, step } = simulated(unit);
  const original = {
    unit,
    reset: () => controller.reset(),
    tick: () => controller.tick(),
    read: (address: number, length: number) => controller.read(address, length),
    write: (address: number, data: Buffer) => controller.write(address, data),
    truth: () => controller.truth(),
  };
  return { controller: { ...original, ...change(controller) }, step };
}

/** Changes the bytes of one register in each read that begins with it. */
function shows(register: Register, change: (data: Buffer) => void) {
  return (controller: Controller): Partial<Controller> => ({
    read: (address, length) => {
      const bytes = controller.read(address, length);
      const end = frameBytes(register) - 1;
      if (address !== register.address || length <= end) return bytes;
      change(bytes);
      bytes[end] = crc8(gimbal.address, address, bytes.subarray(0, end));
      return bytes;
    },
  });
}

/** Calls `act` after each write to the register. */
function after(register: Register, act: (controller: Controller, data: Buffer) => void) {
  return (controller: Controller): Partial<Controller> => ({
    write: (address, data) => {
      controller.write(address, data);
      if (address === register.address) act(controller, data);
    },
  });
}

function send(controller: Controller, register: Register, values: Readonly<Record<string, number>>): void {
  controller.write(register.address, encodeFrame(gimbal.address, register, values));
}

const { status, build, mode, stop, heartbeat, excitation, guarded_excitation, capture_select } = REGISTERS;
const without = (names: readonly string[], name: string) => ~(1 << names.indexOf(name));

const WRONG_FIRMWARES: Readonly<
  Record<string, readonly [says: string, change: Parameters<typeof wrong>[1]]>
> = {
  'takes frames with a wrong CRC': [
    'its CRC is wrong',
    controller => ({
      write: (address, data) => {
        const body = data.subarray(0, -1);
        controller.write(address, Buffer.from([...body, crc8(gimbal.address, address, body)]));
      },
    }),
  ],
  'counts no refused frame': [
    'a float is not finite (NaN or infinity)',
    shows(status, data => {
      data[13] = 0;
    }),
  ],
  'releases its latch with a mode': [
    'The latch stays until it is released, whatever else happens on the bus, and however long the host is away.',
    after(mode, controller => send(controller, stop, { stop: 0 })),
  ],
  'is never silent': [
    '`silence_ms` in a heartbeat is how long the controller waits for the next one.',
    shows(status, data => {
      data[6] = (data[6] ?? 0) & without(FAULTS, 'silent');
    }),
  ],
  'takes each mode for a heartbeat': [
    'Only heartbeats count. Other frames do not.',
    after(mode, controller => send(controller, heartbeat, { count: 0, silence_ms: 100 })),
  ],
  'keeps the wave in debug': [
    'Entering `debug` from another mode sets the amplitude to 0, so that nothing moves until the host asks for it.',
    after(mode, controller =>
      send(controller, excitation, { slot: 0, amplitude: Math.fround(0.2), period_s: 2 }),
    ),
  ],
  'keeps the guard with the short frame': [
    'Writing `excitation` sets the deviation to 0.',
    after(excitation, (controller, data) => {
      if (data.length !== frameBytes(excitation)) return;
      const [slot = 0, amplitude, period_s] = [data[0], data.readFloatLE(1), data.readFloatLE(5)];
      if (slot < 4 && amplitude >= 0 && period_s <= 20)
        send(controller, guarded_excitation, { slot, amplitude, period_s, deviation: 0.5 });
    }),
  ],
  'reads 0xff between its frames': [
    'Offsets that hold no frame, and frames that are only written, read as 0.',
    controller => ({
      read: (address, length) => {
        const bytes = controller.read(address, length);
        const isFrame = (place: number) =>
          registerMap(gimbal).some(one => place >= one.address && place < one.address + frameBytes(one));
        return bytes.map((byte, index) => (isFrame((address + index) % SPACE_BYTES) ? byte : 0xff)) as Buffer;
      },
    }),
  ],
  'ends a read at 255': [
    'After a frame it continues with the bytes that follow, and after offset 255 with those from 0.',
    controller => ({
      read: (address, length) =>
        controller.read(address, length).fill(0, Math.min(length, SPACE_BYTES - address)),
    }),
  ],
  'forgets the staged gains with a commit': [
    'A gains frame reads as it was last staged, also after a commit.',
    controller => ({
      read: (address, length) => {
        const { staged } = { staged: controller.read(status.address, 16)[12] ?? 0 };
        const slot = gimbal.loops.find(loop => gainsRegister(loop.slot).address === address)?.slot;
        if (slot === undefined || staged & (1 << slot)) return controller.read(address, length);
        return encodeFrame(gimbal.address, gainsRegister(slot), { kp: 0, ki: 0, kd: 0 });
      },
    }),
  ],
  'counts each read of its telemetry': [
    '`sequence` goes up by one when a snapshot is read for the first time.',
    (() => {
      let reads = 0;
      const register = registerMap(gimbal).find(({ name }) => name === 'telemetry');
      if (register === undefined) throw new TypeError('no telemetry');
      return shows(register, data => {
        reads += 2;
        data[0] = reads & 0xff;
      });
    })(),
  ],
  'sets the flag of 0.2.0': [
    'Never set bit 4.',
    shows(status, data => {
      data[5] = (data[5] ?? 0) | (1 << FLAGS.indexOf('withdrawn_guard'));
    }),
  ],
  'announces no register `build`': [
    'Without the flag, the register reads as 0.',
    shows(status, data => {
      data[5] = (data[5] ?? 0) & without(FLAGS, 'build');
    }),
  ],
  'damages its register `build`': [
    'Without the flag, the register reads as 0.',
    controller => ({
      read: (address, length) => {
        const bytes = controller.read(address, length);
        if (address === build.address) bytes[0] = 1;
        return bytes;
      },
    }),
  ],
  'shows no refused commit': [
    'The commit is judged when its stop arrives: `staged` becomes 0, or `commit_refused` shows, at once.',
    shows(status, data => {
      data[6] = (data[6] ?? 0) & without(FAULTS, 'commit_refused');
    }),
  ],
  'selects every second page': [
    'A selection is in force at the next transaction.',
    after(capture_select, controller => send(controller, capture_select, { page: 1 })),
  ],
  'acknowledges no frame that it refuses': [
    'Writing to an offset without a frame is refused.',
    controller => ({
      write: (address, data) => {
        const refused = () => controller.read(status.address, 16)[13];
        const before = refused();
        controller.write(address, data);
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

  it('are at least 60', () => {
    expect(STILL_CHECKS.length).to.be.at.least(60);
  });

  for (const says of new Set([
    ...[...STILL_CHECKS, ...MOVING_CHECKS].map(one => one.says),
    ...Object.keys(NOT_ASKED),
  ]))
    it(`quote the page: ${says}`, () => expect(page).to.include(says));

  for (const unit of UNIT_LIST)
    for (const [name, subject] of Object.entries({ simulated, core, image })) {
      it(`hold for the ${unit.name} of the ${name} firmware`, async () => {
        const made = subject(unit);
        const found = await asked(made);
        expect(brokenIn(found)).to.deep.equal([]);
        expect(found.asked.length).to.be.at.least(60);
        expect(found.end).to.equal('The controller is latched: the daemon will start stopped.');
        expect(made.controller.truth()).to.include({ stopped: true, torque: false, mode: 'manual' });
        const gains = made.controller.truth().gains;
        expect(gainsChecksum(unit, gains as GainSet)).to.equal(gainsChecksum(unit, defaultGains(unit)));
      });

      it(`hold for the moving ${unit.name} of the ${name} firmware`, async () => {
        const made = subject(unit);
        const found = await asked(made, { moves: true });
        expect(brokenIn(found)).to.deep.equal([]);
        expect(found.asked.length).to.be.greaterThan(STILL_CHECKS.length + MOVING_CHECKS.length);
        expect(made.controller.truth()).to.include({ stopped: true, torque: false });
      });
    }

  it('give no torque without --move', async () => {
    let torques = 0;
    const subject = wrong(gimbal, controller => ({
      tick: () => {
        controller.tick();
        if (controller.truth().torque === true) torques += 1;
      },
    }));
    await asked(subject);
    expect(torques).to.equal(0);
    await asked(subject, { moves: true });
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

  for (const [name, [says, change]] of Object.entries(WRONG_FIRMWARES))
    it(`find firmware that ${name}`, async () => {
      const found = await asked(wrong(gimbal, change));
      expect(brokenIn(found).map(one => one.says)).to.include(says);
      const said = reportOf(found, false);
      expect(said.exitCode).to.equal(1);
      expect(said.text).to.include(`WRONG  ${says}`);
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
      const memory = Buffer.alloc(SPACE_BYTES);
      const frames = simulated(gimbal).controller;
      for (const register of hasFrames ? [REGISTERS.identity, status] : [])
        frames.read(register.address, frameBytes(register)).copy(memory, register.address);
      const before = Buffer.from(memory);
      const found = await asked(
        wrong(gimbal, () => ({
          read: (address, length) => Buffer.from(memory.subarray(address, address + length)),
          write: (address, data) => {
            data.copy(memory, address);
          },
        })),
        { hasGains: false },
      );
      expect(found.refused).to.match(/^There is no controller at 0x20: /);
      expect(memory.equals(before)).to.equal(true);
      expect(reportOf(found, false)).to.include({ exitCode: 1 });
    });
});
