import { MAX_HOLD_MS, MODES, QUANTITIES, RATE_COUNTS, type Unit } from '../core/units.js';

/**
 * The register map of a motor controller: the one place that knows it. Types, codec, simulator, the tables in
 * docs/motor-protocol.md and motor_registers.h derive from it.
 *
 * A register is a byte offset into a 256-byte space and holds one frame: its fields, little-endian and packed, then a
 * CRC-8. Frames never overlap.
 */

export const PROTOCOL_VERSION = 1;
/** The bytes "TRUN" on the wire. */
export const MAGIC = 0x4e555254;
export const SPACE_BYTES = 256;
/** The longest frame including its CRC: one SMBus block. */
export const MAX_FRAME_BYTES = 32;
export const CRC_BYTES = 1;
/** The number of gain slots in the map: every `loop.slot` is below this. */
export const LOOP_SLOTS = 5;
/** The number of samples in a step capture, and in one page of its read-out. */
export const CAPTURE_SAMPLES = 256;
export const CAPTURE_PAGE_SAMPLES = 7;
/** The longest time from a mode, stop, excitation or commit frame until the controller acts on it and shows it. */
export const TAKES_EFFECT_MS = 20;

export const SCALAR_BYTES = { u8: 1, u16: 2, u32: 4, i16: 2, f32: 4 } as const;
export type Scalar = keyof typeof SCALAR_BYTES;

export interface Field {
  readonly name: string;
  readonly type: Scalar;
  /** Counts per unit of a scaled integer; such a field saturates instead of failing. */
  readonly scale?: number;
  readonly unit?: string;
  /** The only allowed values, by name. */
  readonly values?: Readonly<Record<string, number>>;
  /** Meaning of each bit, lowest first. */
  readonly bits?: readonly string[];
  readonly doc: string;
}

export interface Register {
  readonly name: string;
  readonly address: number;
  readonly access: 'read' | 'write' | 'read, write';
  readonly fields: readonly Field[];
  readonly doc: string;
}

export type FieldValues<R extends Register> = { [F in R['fields'][number] as F['name']]: number };

/** The number of a mode is its place in MODES. */
const MODE_VALUES = Object.fromEntries(MODES.map((mode, index) => [mode, index]));

/**
 * `guarded_excitation`, `build` and `motion`: this firmware has the optional register of that name. `withdrawn_guard` announced a
 * register of 0.2.0 that no longer exists. Its bit is never reused.
 */
export const FLAGS = [
  'stopped',
  'torque',
  'gains_committed',
  'target_visible',
  'withdrawn_guard',
  'guarded_excitation',
  'build',
  'motion',
] as const;
export const RESET_CAUSES = { other: 0, power: 1, reset_pin: 2, watchdog: 3 } as const;
export const FAULTS = [
  'silent',
  'over_current',
  'over_temperature',
  'encoder_failed',
  'supply_low',
  'camera_lost',
  'commit_refused',
  'frame_refused',
  'ran_away',
] as const;

const EXCITATION_FIELDS = [
  { name: 'slot', type: 'u8', doc: 'Slot of the loop.' },
  { name: 'amplitude', type: 'f32', doc: "Half of peak to peak, in the loop's unit; 0 = none." },
  { name: 'period_s', type: 'f32', unit: 's', doc: 'Period of the excitation.' },
] as const satisfies readonly Field[];

/** Registers that every unit has. */
export const REGISTERS = {
  identity: {
    name: 'identity',
    address: 0x00,
    access: 'read',
    doc: 'Identifies the controller. The host refuses one whose magic, kind, protocol or loops differ.',
    fields: [
      { name: 'magic', type: 'u32', doc: 'The bytes "TRUN" in this order.' },
      { name: 'kind', type: 'u8', doc: 'The unit: 1 gimbal, 2 chassis.' },
      { name: 'protocol', type: 'u8', doc: 'Version of this map.' },
      { name: 'firmware_major', type: 'u8', doc: 'Firmware version, for people.' },
      { name: 'firmware_minor', type: 'u8', doc: 'As above.' },
      { name: 'firmware_patch', type: 'u8', doc: 'As above.' },
      { name: 'loops', type: 'u8', doc: 'Number of loops that the firmware runs.' },
      { name: 'loop_rate_hz', type: 'u16', unit: 'Hz', doc: 'Rate of the control loops.' },
    ],
  },
  status: {
    name: 'status',
    address: 0x10,
    access: 'read',
    doc: 'The state of the controller, from one snapshot.',
    fields: [
      {
        name: 'boot_id',
        type: 'u32',
        doc: 'Differs at every controller start: a counter or a random number.',
      },
      { name: 'mode', type: 'u8', values: MODE_VALUES, doc: 'Mode in force.' },
      { name: 'flags', type: 'u8', bits: FLAGS, doc: 'The state now, one bit each.' },
      { name: 'faults', type: 'u16', bits: FAULTS, doc: 'The faults now, one bit each.' },
      {
        name: 'active_checksum',
        type: 'u32',
        doc: 'CRC-32 of the active gains; 0 while none are committed.',
      },
      { name: 'staged', type: 'u8', doc: 'One bit per slot: staged since the last commit or start.' },
      { name: 'refused', type: 'u8', doc: 'Frames refused since start, for their CRC or a value; wraps.' },
      { name: 'capture', type: 'u8', doc: 'Number of the newest complete step capture; 0 before the first.' },
    ],
  },
  build: {
    name: 'build',
    address: 0x20,
    access: 'read',
    doc: 'Identifies the firmware image, and shows the cause of the last reset and the longest work of one loop period. Optional: the flag `build` says that the register exists.',
    fields: [
      { name: 'image_crc', type: 'u32', doc: 'Tells two firmware images apart, for people.' },
      { name: 'longest_loop_us', type: 'u16', unit: 'us', doc: 'Longest work of one loop period.' },
      { name: 'reset_cause', type: 'u8', values: RESET_CAUSES, doc: 'Why the controller started.' },
    ],
  },
  mode: {
    name: 'mode',
    address: 0x50,
    access: 'read, write',
    doc: 'Write: switch to this mode. Read: the mode in force. Entering `debug` sets the amplitude to 0.',
    fields: [{ name: 'mode', type: 'u8', values: MODE_VALUES, doc: 'Mode.' }],
  },
  stop: {
    name: 'stop',
    address: 0x54,
    access: 'read, write',
    doc: 'Write `stopped`: torque off at once, latched. Write `released`: the latch ends. Read: the latch.',
    fields: [{ name: 'stop', type: 'u8', values: { released: 0, stopped: 1 }, doc: 'The latch.' }],
  },
  heartbeat: {
    name: 'heartbeat',
    address: 0x58,
    access: 'write',
    doc: 'Says that the host is alive. Without a heartbeat for `silence_ms`, the controller takes torque off and shows `silent`.',
    fields: [
      { name: 'count', type: 'u8', doc: 'Any value; the host sends a counter.' },
      {
        name: 'silence_ms',
        type: 'u16',
        unit: 'ms',
        doc: 'Longest time without a heartbeat before torque goes off; 0 = no limit. 500 at start.',
      },
    ],
  },
  commit: {
    name: 'commit',
    address: 0x60,
    access: 'write',
    doc: 'Make the staged gains active, all at once, if every loop is staged and the checksum matches.',
    fields: [{ name: 'checksum', type: 'u32', doc: 'CRC-32 of the whole staged set.' }],
  },
  excitation: {
    name: 'excitation',
    address: 0x68,
    access: 'read, write',
    doc: 'The square wave of debug mode, added to the setpoint of one loop. Without torque, the amplitude reads as 0. Writing sets `deviation` to 0.',
    fields: EXCITATION_FIELDS,
  },
  guarded_excitation: {
    name: 'guarded_excitation',
    address: 0x72,
    access: 'read, write',
    doc: 'The square wave of `excitation` with its guard: if `deviation` is exceeded, the controller ends the excitation. Optional: the flag `guarded_excitation` says that the register exists.',
    fields: [
      ...EXCITATION_FIELDS,
      {
        name: 'deviation',
        type: 'f32',
        doc: "Largest distance of the excited loop's measured value from its setpoint, in the loop's unit; 0 = no guard, as at start.",
      },
    ],
  },
  capture_select: {
    name: 'capture_select',
    address: 0xd0,
    access: 'write',
    doc: 'Choose the page that `capture_page` shows. The capture is kept for 1 s after each selection.',
    fields: [{ name: 'page', type: 'u8', doc: 'Page from 0.' }],
  },
  capture: {
    name: 'capture',
    address: 0xd4,
    access: 'read',
    doc: 'The newest complete step capture, or the capture that is kept for reading.',
    fields: [
      { name: 'number', type: 'u8', doc: 'Counts captures, 1 to 255 and again from 1; 0 = none yet.' },
      { name: 'slot', type: 'u8', doc: 'Slot of the loop.' },
      { name: 'rate_hz', type: 'u16', unit: 'Hz', doc: 'Loop rate.' },
      { name: 'decimation', type: 'u16', doc: 'Loop periods between two samples.' },
      {
        name: 'samples',
        type: 'u16',
        doc: 'Number of samples, at most 256. Sample 0 is from the last loop period before the edge.',
      },
    ],
  },
} as const satisfies Readonly<Record<string, Register>>;

const GAINS_BASE = 0x80;
const GAINS_STRIDE = 0x10;

/** The staging frame of the loop in `slot`. Reading it returns the staged gains. */
export function gainsRegister(slot: number) {
  return {
    name: `gains_${slot}`,
    address: GAINS_BASE + GAINS_STRIDE * slot,
    access: 'read, write',
    doc: `Staged gains of the loop in slot ${slot}.`,
    fields: [
      { name: 'kp', type: 'f32', doc: 'Proportional gain.' },
      { name: 'ki', type: 'f32', doc: 'Integral gain.' },
      { name: 'kd', type: 'f32', doc: 'Derivative gain.' },
    ],
  } as const satisfies Register;
}

/** Setpoint, measured value and output of every loop in slot order. The pose follows, if the unit has one. */
export function telemetryRegister(unit: Unit): Register {
  const scaled = (name: string, quantity: keyof typeof QUANTITIES, doc: string): Field => ({
    name,
    type: 'i16',
    scale: QUANTITIES[quantity].countsPerUnit,
    unit: quantity,
    doc,
  });
  const loops = unit.loops.flatMap(loop => [
    scaled(`${loop.name}.setpoint`, loop.quantity, `${loop.title}: setpoint.`),
    scaled(`${loop.name}.measured`, loop.quantity, `${loop.title}: measured value.`),
    scaled(`${loop.name}.output`, loop.outputQuantity, `${loop.title}: output.`),
  ]);
  const pose = [
    scaled('pose.x', 'm', 'Place on the floor.'),
    scaled('pose.y', 'm', 'Place on the floor.'),
    scaled('pose.heading', 'rad', 'Heading, from -pi to pi.'),
  ];
  return {
    name: 'telemetry',
    address: 0x30,
    access: 'read',
    doc: 'The state of all loops, from one snapshot. Values beyond the range of int16 saturate.',
    fields: [
      { name: 'sequence', type: 'u8', doc: 'Counts snapshots; wraps.' },
      ...loops,
      ...(unit.hasPose ? pose : []),
    ],
  };
}

/** The rates at which the host moves a unit, and the time for which they hold. */
export function motionRegister(unit: Unit): Register {
  const rates = unit.axes.map(({ name, quantity, greatestRate }): Field => {
    const doc = `Rate of the ${name} axis. By default the host asks for at most ${greatestRate} ${quantity}.`;
    return { name, type: 'i16', scale: RATE_COUNTS, unit: quantity, doc };
  });
  return {
    name: 'motion',
    address: 0x28,
    access: 'read, write',
    doc: 'Write: move at these rates in `manual`. Read: the rates in force and the time left. Optional: the flag `motion` says that the register exists.',
    fields: [
      ...rates,
      {
        name: 'hold_ms',
        type: 'u16',
        unit: 'ms',
        doc: `How long the rates hold, at most ${MAX_HOLD_MS}; 0 ends the motion.`,
      },
    ],
  };
}

/** One page of a capture, scaled as the loop's telemetry is. Samples beyond the capture's end are 0. */
export function capturePageRegister(countsPerUnit: number): Register {
  const samples = Array.from({ length: CAPTURE_PAGE_SAMPLES }, (_, index): Field[] => [
    { name: `setpoint_${index}`, type: 'i16', scale: countsPerUnit, doc: 'Setpoint.' },
    { name: `measured_${index}`, type: 'i16', scale: countsPerUnit, doc: 'Measured value.' },
  ]);
  return {
    name: 'capture_page',
    address: 0xe0,
    access: 'read',
    doc: "Seven samples of the capture, in the counts of the loop's telemetry.",
    fields: [
      { name: 'number', type: 'u8', doc: 'Number of the capture that these samples belong to.' },
      { name: 'page', type: 'u8', doc: 'The selected page.' },
      ...samples.flat(),
    ],
  };
}

/** All registers of one unit, by offset. */
export function registerMap(unit: Unit): readonly Register[] {
  return [
    ...Object.values(REGISTERS),
    telemetryRegister(unit),
    motionRegister(unit),
    ...unit.loops.map(loop => gainsRegister(loop.slot)),
    capturePageRegister(1),
  ].sort((a, b) => a.address - b.address);
}

/** Bytes of the register's frame, with its CRC. */
export function frameBytes(register: Register): number {
  let bytes = CRC_BYTES;
  for (const { type } of register.fields) bytes += SCALAR_BYTES[type];
  return bytes;
}
