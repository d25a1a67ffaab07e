import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { SimulatedBus } from '../../sim/bus/simulated-bus.js';
import type { CorePort, MotorIndex } from '../../sim/core/core.js';
import { createCoreRobot } from '../../sim/core/core-robot.js';
import { type Controller, SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { createPico } from '../../sim/pico/pico-robot.js';
import { createPhysics } from '../../sim/robot-physics.js';
import { conformanceCommand, reportOf } from '../../src/command/conformance-command.js';
import { loadConfig } from '../../src/config/config.js';
import { giveGains, rest } from '../../src/conformance/check.js';
import { type Conformance, conformance, NOT_ASKED, stillChecks } from '../../src/conformance/conformance.js';
import { Host } from '../../src/conformance/host.js';
import { FOLLOWS, movingChecks } from '../../src/conformance/moving-checks.js';
import { NOWHERE } from '../../src/conformance/refusal-checks.js';
import { RobotError } from '../../src/core/errors.js';
import {
  defaultGains,
  type GainSet,
  UNIT_LIST,
  type Unit,
  type UnitName,
  unitNamed,
} from '../../src/core/units.js';
import type { I2cBus } from '../../src/hardware/ports.js';
import { crc8, gainsChecksum } from '../../src/protocol/codec.js';
import {
  frameBytes,
  gainsRegister,
  motionRegister,
  REGISTERS,
  type Register,
  SPACE_BYTES,
  telemetryRegister,
} from '../../src/protocol/registers.js';
import { ManualClock } from '../support/manual-clock.js';
import { changedCore, core as module } from './core.js';

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

function core(unit: Unit, wiring: Wiring = port => port, compiled = module): Subject {
  const { physics, port, controller } = createCoreRobot(compiled, { seed: 1 });
  return { controller: controller(unit, wiring(port(unit))), step: () => physics.step() };
}

/** Connects the core to sensors and motors. */
type Wiring = (port: CorePort) => CorePort;

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
    const host = new Host({ unit, bus, clock });
    if (hasGains) await host.take([rest, giveGains(unit, defaultGains(unit))]);
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

function sealed({ address }: Register, data: Buffer): Buffer {
  return Buffer.concat([data, Buffer.of(crc8(gimbal.address, address, data))]);
}

/** Changes one byte of the register's data wherever the whole frame is read. */
function sends(register: Register, at: number, change: (byte: number) => number): Change {
  return ({ read }) => ({
    read: (place, length) => {
      const bytes = read(place, length);
      const frame = bytes.subarray(register.address - place).subarray(0, frameBytes(register));
      if (register.address < place || frame.length < frameBytes(register)) return bytes;
      frame.writeUInt8(change(frame.readUInt8(at)), at);
      sealed(register, frame.subarray(0, -1)).copy(frame);
      return bytes;
    },
  });
}

/** Takes the first bytes of each write to the register as its data, and believes every CRC. */
function takes(register: Register, count: number): Change {
  return ({ write }) => ({
    write: (place, data) =>
      write(place, place === register.address ? sealed(register, data.subarray(0, count)) : data),
  });
}

/** Writes a second frame after each write to the register. */
function adds(register: Register, second: Register, hex: string): Change {
  return ({ write }) => ({
    write: (place, data) => {
      write(place, data);
      if (place === register.address) write(second.address, sealed(second, Buffer.from(hex, 'hex')));
    },
  });
}

const { status, mode, stop, heartbeat, excitation, guarded_excitation, commit, capture_select } = REGISTERS;
const telemetry = telemetryRegister(gimbal);
const motion = motionRegister(gimbal);
/** The data of an excitation of the first loop: 0.2 rad, 2 s. */
const EXCITED = '00cdcc4c3e00000040';

/** What firmware does wrong, the beginning of the sentence whose check must notice it, and how it does it. */
const WRONG_FIRMWARES: readonly (readonly [wrong: string, says: string, change: Change])[] = [
  ['accepts a mode with a wrong CRC', 'its CRC is wrong', takes(mode, 1)],
  ['accepts a heartbeat of a wrong length', 'its length is not that of a frame', takes(heartbeat, 3)],
  ['does not count refused frames', 'a float is not finite', sends(status, 13, () => 0)],
  ['releases its latch when a mode is written', 'The latch stays', adds(mode, stop, '00')],
  [
    'never reports that the host is silent',
    '`silence_ms` in a heartbeat',
    sends(status, 6, faults => faults & ~0x01),
  ],
  ['counts a written mode as a heartbeat', 'Only heartbeats count.', adds(mode, heartbeat, '006400')],
  [
    'counts a refused heartbeat as a heartbeat',
    'Only heartbeats count.',
    adds(heartbeat, heartbeat, '006400'),
  ],
  [
    'counts a read as a heartbeat',
    'Only heartbeats count.',
    ({ read, write }) => ({
      read: (place, length) => {
        write(heartbeat.address, sealed(heartbeat, Buffer.from('006400', 'hex')));
        return read(place, length);
      },
    }),
  ],
  [
    'keeps the guard of an excitation when the register `excitation` is written',
    'Writing `excitation`',
    adds(excitation, guarded_excitation, `${EXCITED}0000003f`),
  ],
  [
    'returns zeros for a gains frame after its commit',
    'Reading a gains frame',
    adds(commit, gainsRegister(0), '00'.repeat(12)),
  ],
  [
    'counts each telemetry reading twice',
    '`sequence` goes up by one',
    sends(telemetry, 0, count => (2 * count) & 0xff),
  ],
  [
    'sets flag bit 4, which only version 0.2.0 had',
    'Never set bit 4.',
    sends(status, 5, flags => flags | 0x10),
  ],
  ['sets a reserved fault bit', 'Reserved bits are 0.', sends(status, 7, faults => faults | 0x80)],
  [
    'does not set the flag of its register `build`',
    'Without the flag',
    sends(status, 5, flags => flags & ~0x40),
  ],
  [
    'does not report a refused commit',
    'The controller judges a commit',
    sends(status, 6, faults => faults & ~0x40),
  ],
  [
    'always selects the same capture page, whichever page the host asks for',
    'A selection is in force',
    adds(capture_select, capture_select, '01'),
  ],
  [
    'has a frame at an offset that must hold no frame',
    'Offsets that hold no frame',
    sends({ ...mode, address: 0x4d }, 0, () => 1),
  ],
  [
    'returns the last written motion even in a mode other than manual, while stopped or without torque',
    'In another mode, while stopped or without torque',
    ({ read, write }) => {
      let last: Buffer | undefined;
      return {
        read: (place, length) =>
          place === motion.address ? (last ?? read(place, length)) : read(place, length),
        write: (place, data) => {
          if (place === motion.address && data.length === frameBytes(motion)) last = data;
          write(place, data);
        },
      };
    },
  ],
  [
    'returns zeros for a read past offset 255',
    'A read that goes past the end of a frame',
    ({ read }) => ({
      read: (place, length) => read(place, length).fill(0, Math.min(length, SPACE_BYTES - place)),
    }),
  ],
  [
    'does not acknowledge a write to an offset without a frame',
    'Writing to an offset without a frame',
    ({ write }) => ({
      write: (place, data) => {
        if (place === NOWHERE) throw new RobotError('nack', { bus: 1, errno: 121, cure: undefined });
        write(place, data);
      },
    }),
  ],
];

const KEEPS_AMPLITUDE = 'controller.c rest: command->excitation.amplitude = 0; → ';

/** What a core does wrong while it moves, the beginning of the sentence whose check must notice it, and its source. */
const WRONG_CORES: readonly (readonly [wrong: string, says: string, source: string])[] = [
  [
    'ignores a stop in auto',
    'Write `stopped`',
    'controller.c: return !state->stopped → return (!state->stopped || state->command.mode == MOTOR_MODE_AUTO)',
  ],
  [
    'ignores host silence in auto',
    'Silence never latches.',
    'controller.c: silence_ms > 0 → silence_ms > 0 && loop->state.command.mode != MOTOR_MODE_AUTO',
  ],
  [
    'ends a guarded excitation only if the loop leaves its setpoint on one side, not on the other',
    'If the deviation is exceeded',
    'controller.c: distance <= deviation && distance >= -deviation → distance <= deviation',
  ],
  [
    'removes an excitation slowly after the guard has ended it',
    'It removes the excitation',
    'controller.c watch: motor->unit->drop_excitation(); → ',
  ],
  [
    'begins an excitation with its negative half',
    'The excitation starts',
    'loops.c: edge(signal, excitation->amplitude → edge(signal, -excitation->amplitude',
  ],
  [
    'applies a new amplitude before the next edge',
    'An amplitude or a period',
    'loops.c: if (signal->half == 0) → signal->value *= excitation->amplitude / signal->height; if (signal->half == 0)',
  ],
  [
    'applies a new period before the next edge',
    'An amplitude or a period',
    'loops.c: >= signal->half → >= scaled(excitation->period_s, MOTOR_LOOP_RATE_HZ / 2, INT32_MAX)',
  ],
  [
    'ends an excitation with a jump of the setpoint',
    'If amplitude 0 is written',
    'loops.c: towards(signal->value, 0, signal->height * PERIOD_S) → 0',
  ],
  [
    'lets the old excitation return to 0 completely before it begins a new excitation',
    'An amplitude that is written during the return',
    'loops.c: if (signal->half == 0) → if (signal->half == 0 && signal->value < 0) signal->value += signal->height * PERIOD_S; else if (signal->half == 0)',
  ],
  [
    'rounds half the period of an excitation down to whole loop periods',
    'Half a period is rounded',
    'loops.c: scaled(period_s, MOTOR_LOOP_RATE_HZ / 2, INT32_MAX) → (int32_t)(period_s * MOTOR_LOOP_RATE_HZ / 2)',
  ],
  [
    'counts a telemetry snapshot only if its first byte is read',
    'A read of any byte',
    'bus.c: bus->loaded != 0 && → bus->loaded != 0 && bus->place == bus->loaded->place &&',
  ],
  [
    'clears the fault `ran_away` at a stop',
    'Neither a stop',
    'controller.c: state->stopped = mail->value == MOTOR_STOP_STOPPED; → state->stopped = mail->value; loop->ran_away = false;',
  ],
  [
    'accepts a repeated commit of gains that are already active',
    'A commit that is repeated',
    'bus.c: if (bus->commit_refused) → bus->commit_refused &= motor->loop.state.checksum != checksum; if (bus->commit_refused)',
  ],
  [
    'keeps the amplitude of an excitation when the torque is cut',
    'without torque, the controller sets',
    KEEPS_AMPLITUDE,
  ],
  ['begins an excitation again when torque returns', 'So nothing moves when torque returns', KEEPS_AMPLITUDE],
  [
    'refuses a motion command while it has no torque',
    'In another mode, while stopped or without torque',
    'bus.c: if (motion.hold_ms > MOTOR_MAX_HOLD_MS) → if (motion.hold_ms > MOTOR_MAX_HOLD_MS || !motor->loop.state.command.torque)',
  ],
  [
    'accepts a motion command that lasts over 500 ms',
    'A frame with a longer hold',
    'bus.c: > MOTOR_MAX_HOLD_MS → > 1000',
  ],
  [
    'does not set the flag of its register `motion`',
    'Firmware that has it sets the flag',
    'bus.c:  | MOTOR_FLAGS_MOTION → ',
  ],
  [
    'never ends a motion when the time of its command is over',
    'The frame applies',
    'controller.c: && --command->motion.hold_ms == 0 → && command->torque == 0',
  ],
  [
    'moves in the direction opposite to that of a motion command',
    'The frame applies',
    'loops.c: return (float)command->motion → return -(float)command->motion',
  ],
  [
    'does not limit the rates of a motion',
    'The controller limits each rate',
    'bus.c: = limited(motion.rate[axis], motor->unit->greatest_rate[axis]) → = limited(motion.rate[axis], INT16_MAX)',
  ],
  [
    'continues a motion after a command with rates of 0',
    'Both rates 0',
    'bus.c: if (!moves) → if (!moves && motion.hold_ms == 1)',
  ],
  [
    'mixes the rates of a new motion with those of the previous one',
    'A newer frame replaces',
    'controller.c: state->command.motion = mail->motion; → { int16_t last = state->command.motion.rate[0]; state->command.motion = mail->motion; state->command.motion.rate[0] |= last; }',
  ],
  [
    'continues a motion after host silence',
    'the motion does not return',
    'controller.c rest: command->motion = no_motion; → ',
  ],
  [
    'ends a motion when the mode manual is written while the unit is in manual',
    'Writing `manual`',
    'controller.c: if (mode == command->mode) → if (0)',
  ],
  [
    'keeps the amplitude of an excitation when debug mode is entered',
    'Entering `debug`',
    'controller.c enter: command->excitation.amplitude = 0; → ;',
  ],
  [
    'moves an excited loop in manual',
    'It moves something only in `debug`.',
    'loops.c: return command->mode == MOTOR_MODE_DEBUG && command->torque → return command->torque',
  ],
  [
    'obeys a motion command in debug',
    'In another mode, while stopped or without torque',
    'controller.c: if (state->command.mode == MOTOR_MODE_MANUAL) → if (state->command.mode != MOTOR_MODE_AUTO)',
  ],
  [
    'waits for half as long again as the host has allowed before it takes torque off',
    '`silence_ms` in a heartbeat',
    'controller.c: loop->silence_age_ms >= silence_ms → 2 * loop->silence_age_ms >= 3 * silence_ms',
  ],
];

/** Wirings in which this motor, or its encoder, is connected the wrong way round. */
function reversed(at: number) {
  const sign = (motor: MotorIndex) => (motor === at ? -1 : 1);
  return {
    motor: port => ({ ...port, drive: (motor, volts) => port.drive(motor, sign(motor) * volts) }),
    encoder: port => ({ ...port, encoder: motor => sign(motor) * port.encoder(motor) }),
  } satisfies Record<string, Wiring>;
}

const MOTORS: Readonly<Record<UnitName, readonly string[]>> = {
  gimbal: ['yaw', 'pitch'],
  chassis: ['left', 'right'],
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
    it(`quote docs/motor-protocol.md word for word in the sentence “${says}”`, () =>
      expect(page).to.include(says));

  for (const unit of UNIT_LIST)
    for (const [name, subject] of Object.entries({
      'simulated firmware': simulated,
      'C core': core,
      'firmware image for the Pico': image,
    })) {
      it(`find no fault in a ${unit.name} that runs the ${name}, and leave its controller latched`, async () => {
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
      }).timeout(600_000);
    }

  it('find no fault in firmware without the register `motion`', async () => {
    const isHidden = (place: number) =>
      place >= motion.address && place < motion.address + frameBytes(motion);
    const hidden = wrong(right => ({
      read: (place, length) => {
        const bytes = sends(status, 5, flags => flags & ~0x80)(right).read?.(place, length);
        return Buffer.from((bytes ?? Buffer.alloc(0)).map((byte, at) => (isHidden(place + at) ? 0 : byte)));
      },
      write: (place, data) => right.write(isHidden(place) ? NOWHERE : place, data),
    }));
    expect(brokenIn(await asked(hidden, { moves: true }))).to.deep.equal([]);
  });

  it('give the controller no torque if they run without the option `--move`', async () => {
    const subject = simulated(gimbal);
    const interruptWhen = () => subject.controller.truth().torque === true;
    const found = await asked(subject, { interruptWhen });
    expect(brokenIn(found)).to.deep.equal([]);
    expect(found.end).to.equal('The controller is latched: the daemon will start stopped.');
  });

  it('commit no gains to a controller that releases its latch when the gains are written', async () => {
    const subject = wrong(adds(gainsRegister(0), stop, '00'));
    const { end } = await asked(subject, { hasGains: false });
    expect(end).to.match(/^THE CONTROLLER MAY NOT BE LATCHED/);
    expect(subject.controller.truth()).to.include({ gains: null, torque: false });
  });

  it('release a controller only after a heartbeat with which it takes torque off if the checks die', async () => {
    const subject = simulated(gimbal);
    const { controller } = subject;
    const write = controller.write.bind(controller);
    let silenceMs = 0;
    controller.write = (place, data) => {
      if (place === heartbeat.address) silenceMs = data.readUInt16LE(1);
      write(place, data);
    };
    const released = new Set<number>();
    const interruptWhen = () => {
      if (controller.truth().stopped === false) released.add(silenceMs);
      return false;
    };
    await asked(subject, { moves: true, interruptWhen });
    expect(released).to.include(300).and.not.include(0);
  });

  it('refuse to move a controller that has no gains', async () => {
    const { refused } = await asked(simulated(gimbal), { moves: true, hasGains: false });
    expect(refused).to.include('no gains');
  });

  it('leave the controller latched if they are interrupted while the unit moves', async () => {
    const subject = simulated(gimbal);
    const { controller } = subject;
    let torqueMs = 0;
    const interruptWhen = () => controller.truth().torque === true && ++torqueMs === 1000;
    const { end } = await asked(subject, { moves: true, interruptWhen });
    expect(torqueMs).to.be.within(1000, 1100);
    expect(end).to.match(/^Interrupted. The controller is latched/);
    expect(controller.truth()).to.include({ stopped: true, torque: false });
  });

  for (const [name, says, change] of WRONG_FIRMWARES)
    it(`detect firmware that ${name}`, async () => {
      const found = await asked(wrong(change));
      const { exitCode, text } = reportOf(found, false);
      expect(brokenIn(found).filter(one => one.says.startsWith(says))).to.not.deep.equal([]);
      expect(exitCode).to.equal(1);
      expect(text).to.include(`WRONG  ${says}`);
    });

  for (const [name, says, source] of WRONG_CORES)
    it(`detect a C core that ${name}`, async () => {
      const compiled = changedCore(source);
      const found = await asked(core(gimbal, undefined, compiled), { moves: true });
      expect(brokenIn(found).filter(one => one.says.startsWith(says))).to.not.deep.equal([]);
    });

  for (const unit of UNIT_LIST)
    for (const [at, motor] of MOTORS[unit.name].entries())
      for (const [what, wiring] of Object.entries(reversed(at)))
        it(`move nothing more after they find a reversed ${motor} ${what}`, async () => {
          const { asked: answers, end } = await asked(core(unit, wiring), { moves: true });
          const [last, first] = answers.filter(one => one.says === FOLLOWS).reverse();
          expect(last?.seen).to.match(/ran away|measured: 0,/);
          expect(first?.seen).to.equal(undefined);
          expect(answers.filter(one => one.says.startsWith('It is set if'))).to.deep.equal([]);
          expect(end).to.equal('The controller is latched: the daemon will start stopped.');
        });

  it('stop a yaw axis with a reversed motor while the axis is still within 1.5 rad of its centre', async () => {
    const subject = core(gimbal, reversed(0).motor);
    await asked(subject, { moves: true });
    expect(subject.controller.truth()).to.have.nested.property('axes.yaw.angleRad').that.is.within(-1.5, 1.5);
  });

  it('detect a camera whose pictures are mirrored', async () => {
    const wiring: Wiring = port => ({
      ...port,
      picture: () => ({ ...port.picture(), yawRad: -port.picture().yawRad }),
    });
    const found = await asked(core(gimbal, wiring), { moves: true });
    expect(brokenIn(found)[0]?.about).to.match(/^visual_yaw/);
  });

  it('fail with the error `bus-in-use` while the daemon uses the I2C bus', async () => {
    const open = () => Promise.reject(new RobotError('bus-in-use', { bus: 1 }));
    const command = conformanceCommand(gimbal, open, defaults, async () => true);
    expect(await command.catch(error => error.code)).to.equal('bus-in-use');
  });

  it('send nothing to the controller if the user does not agree to the checks', async () => {
    const open = async () => ({ ...unused, close: async () => undefined });
    const { exitCode, text } = await conformanceCommand(gimbal, open, defaults, async () => false);
    expect(exitCode).to.equal(1);
    expect(text).to.include('nothing has moved');
  });

  for (const hasFrames of [false, true])
    it(`report that a memory chip ${hasFrames ? 'with a copy of the frames of a controller' : 'full of zeros'} is no controller, and leave its content unchanged`, async () => {
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
