import { unitNamed } from '../../src/core/units.js';
import {
  capturePageRegister,
  gainsRegister,
  motionRegister,
  REGISTERS,
  type Register,
  telemetryRegister,
} from '../../src/protocol/registers.js';

const GIMBAL = 0x20;
const CHASSIS = 0x21;

export interface GoldenFrame {
  readonly address: number;
  readonly register: Register;
  readonly values: Readonly<Record<string, number>>;
  /** The bytes on the wire. They were written by hand, and not computed by the code under test. */
  readonly hex: string;
}

const gains = { kp: 1, ki: 0.5, kd: -2 };
const status = {
  boot_id: 0x11223344,
  mode: 2,
  flags: 0b0111,
  faults: 0x0101,
  active_checksum: 0xdeadbeef,
  staged: 0b1010,
  refused: 7,
  capture: 9,
};
const build = { image_crc: 0x12345678, longest_loop_us: 131, reset_cause: 3 };
const heartbeat = { count: 255, silence_ms: 500 };
const excitation = { slot: 2, amplitude: 0.25, period_s: 1.5 };
const guarded = { ...excitation, deviation: 0.5 };
const capture = { number: 3, slot: 2, rate_hz: 1000, decimation: 4, samples: 256 };

function identity(kind: number, loops: number) {
  const firmware = { firmware_major: 1, firmware_minor: 2, firmware_patch: 3 };
  return { magic: 0x4e555254, kind, protocol: 1, ...firmware, loops, loop_rate_hz: 1000 };
}

/** In order of the frame, the values are 0, -1000, 2000, -3000, … counts. */
const gimbalTelemetry = {
  sequence: 200,
  'visual_yaw.setpoint': 0,
  'visual_yaw.measured': -0.1,
  'visual_yaw.output': 0.2,
  'visual_pitch.setpoint': -0.3,
  'visual_pitch.measured': 0.4,
  'visual_pitch.output': -0.5,
  'angle_yaw.setpoint': 0.6,
  'angle_yaw.measured': -0.7,
  'angle_yaw.output': 8,
  'angle_pitch.setpoint': -0.9,
  'angle_pitch.measured': 1,
  'angle_pitch.output': -11,
};
const chassisTelemetry = {
  sequence: 200,
  'speed.setpoint': 0,
  'speed.measured': -1,
  'speed.output': 2,
  'angle.setpoint': -0.3,
  'angle.measured': 0.4,
  'angle.output': -5,
  'position.setpoint': 6,
  'position.measured': -7,
  'position.output': 8,
  'pose.x': -9,
  'pose.y': 10,
  'pose.heading': -1.1,
};
const page = {
  number: 3,
  page: 36,
  ...Object.fromEntries(
    [0, 1, 2, 3, 4, 5, 6].flatMap(sample => [
      [`setpoint_${sample}`, sample / 100],
      [`measured_${sample}`, (0 - sample) / 100],
    ]),
  ),
};

function frame(
  address: number,
  register: Register,
  values: Readonly<Record<string, number>>,
  hex: string,
): GoldenFrame {
  return { address, register, values, hex };
}

const { mode, stop, commit, capture_select } = REGISTERS;
const gimbal = telemetryRegister(unitNamed('gimbal'));
const chassis = telemetryRegister(unitNamed('chassis'));
const inRad = capturePageRegister(10_000);

export const GOLDEN_FRAMES: readonly GoldenFrame[] = [
  frame(GIMBAL, REGISTERS.identity, identity(1, 4), '54 52 55 4e 01 01 01 02 03 04 e8 03 f6'),
  frame(CHASSIS, REGISTERS.identity, identity(2, 3), '54 52 55 4e 02 01 01 02 03 03 e8 03 30'),
  frame(GIMBAL, REGISTERS.status, status, '44 33 22 11 02 07 01 01 ef be ad de 0a 07 09 ae'),
  frame(CHASSIS, REGISTERS.status, status, '44 33 22 11 02 07 01 01 ef be ad de 0a 07 09 a0'),
  frame(GIMBAL, REGISTERS.build, build, '78 56 34 12 83 00 03 8d'),
  frame(CHASSIS, REGISTERS.build, build, '78 56 34 12 83 00 03 f4'),
  frame(
    GIMBAL,
    motionRegister(unitNamed('gimbal')),
    { yaw: 0.4, pitch: -1, hold_ms: 200 },
    '90 01 18 fc c8 00 31',
  ),
  frame(
    CHASSIS,
    motionRegister(unitNamed('chassis')),
    { speed: 0.4, turn: -1, hold_ms: 200 },
    '90 01 18 fc c8 00 22',
  ),
  frame(GIMBAL, mode, { mode: 2 }, '02 41'),
  frame(GIMBAL, mode, { mode: 1 }, '01 48'),
  frame(CHASSIS, mode, { mode: 1 }, '01 23'),
  frame(GIMBAL, stop, { stop: 1 }, '01 1c'),
  frame(CHASSIS, stop, { stop: 1 }, '01 77'),
  frame(GIMBAL, REGISTERS.heartbeat, heartbeat, 'ff f4 01 44'),
  frame(CHASSIS, REGISTERS.heartbeat, heartbeat, 'ff f4 01 26'),
  frame(GIMBAL, commit, { checksum: 0x12345678 }, '78 56 34 12 9f'),
  frame(CHASSIS, commit, { checksum: 0x12345678 }, '78 56 34 12 b6'),
  frame(GIMBAL, REGISTERS.excitation, excitation, '02 00 00 80 3e 00 00 c0 3f 8f'),
  frame(CHASSIS, REGISTERS.excitation, excitation, '02 00 00 80 3e 00 00 c0 3f 90'),
  frame(GIMBAL, REGISTERS.guarded_excitation, guarded, '02 00 00 80 3e 00 00 c0 3f 00 00 00 3f d4'),
  frame(CHASSIS, REGISTERS.guarded_excitation, guarded, '02 00 00 80 3e 00 00 c0 3f 00 00 00 3f 61'),
  frame(GIMBAL, gainsRegister(0), gains, '00 00 80 3f 00 00 00 3f 00 00 00 c0 80'),
  frame(GIMBAL, gainsRegister(1), gains, '00 00 80 3f 00 00 00 3f 00 00 00 c0 ff'),
  frame(GIMBAL, gainsRegister(2), gains, '00 00 80 3f 00 00 00 3f 00 00 00 c0 7e'),
  frame(GIMBAL, gainsRegister(3), gains, '00 00 80 3f 00 00 00 3f 00 00 00 c0 01'),
  frame(CHASSIS, gainsRegister(0), gains, '00 00 80 3f 00 00 00 3f 00 00 00 c0 65'),
  frame(CHASSIS, gainsRegister(2), gains, '00 00 80 3f 00 00 00 3f 00 00 00 c0 9b'),
  frame(GIMBAL, capture_select, { page: 36 }, '24 05'),
  frame(CHASSIS, capture_select, { page: 36 }, '24 6e'),
  frame(GIMBAL, REGISTERS.capture, capture, '03 02 e8 03 04 00 00 01 f0'),
  frame(CHASSIS, REGISTERS.capture, capture, '03 02 e8 03 04 00 00 01 98'),
  frame(
    GIMBAL,
    inRad,
    page,
    '03 24 00 00 00 00 64 00 9c ff c8 00 38 ff 2c 01 d4 fe 90 01 70 fe f4 01 0c fe 58 02 a8 fd 77',
  ),
  frame(
    GIMBAL,
    gimbal,
    gimbalTelemetry,
    'c8 00 00 18 fc d0 07 48 f4 a0 0f 78 ec 70 17 a8 e4 40 1f d8 dc 10 27 08 d5 90',
  ),
  frame(
    CHASSIS,
    chassis,
    chassisTelemetry,
    'c8 00 00 18 fc d0 07 48 f4 a0 0f 78 ec 70 17 a8 e4 40 1f d8 dc 10 27 08 d5 ae',
  ),
];
