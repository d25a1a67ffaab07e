/**
 * The two units and their loops. Schemas, routes, registers, OpenAPI, console, simulator and C header derive from
 * this declaration. Other files that name loops: loop-controllers.ts, both firmwares (sim/loops and firmware/core), and the
 * page where it draws the robot, injects faults and chooses the first loop to show.
 */

export interface Gains {
  readonly kp: number;
  readonly ki: number;
  readonly kd: number;
}

/** The largest gain: controllers calculate in float32. */
export const FLOAT32_MAX = 3.4028234663852886e38;

/** The accepted range of each gain; no limit by default. */
export type GainBounds = Readonly<Partial<Record<keyof Gains, { min?: number; max?: number }>>>;

/** The gains, moved into these bounds. */
export function bounded(gains: Gains, bounds: GainBounds): Gains {
  const within = (name: keyof Gains) => {
    const { min = -FLOAT32_MAX, max = FLOAT32_MAX } = bounds[name] ?? {};
    return Math.min(max, Math.max(min, gains[name]));
  };
  return { kp: within('kp'), ki: within('ki'), kd: within('kd') };
}

/** The gains of every loop of one unit, by loop name. */
export type GainSet = Readonly<Record<string, Gains>>;

export function sameGains(one: Gains | undefined, other: Gains | undefined): boolean {
  return one?.kp === other?.kp && one?.ki === other?.ki && one?.kd === other?.kd;
}

/**
 * Telemetry sends each value as an int16 number of counts. `countsPerUnit` sets the resolution and the range
 * (32767 counts).
 */
export const QUANTITIES = {
  rad: { countsPerUnit: 10_000 },
  m: { countsPerUnit: 1_000 },
  'm/s': { countsPerUnit: 1_000 },
  V: { countsPerUnit: 1_000 },
} as const;

export type Quantity = keyof typeof QUANTITIES;

interface LoopDeclaration {
  /** The loop's place in the register map. It never changes and is never given to another loop. */
  readonly slot: number;
  readonly title: string;
  /** The quantity of setpoint and measured value. */
  readonly quantity: Quantity;
  readonly outputQuantity: Quantity;
  /** Largest amplitude of the debug excitation, in `quantity`. */
  readonly maxAmplitude: number;
  /** The default period of the excitation. The loop settles well within half of it. */
  readonly excitationPeriodS: number;
  /** The loop runs away if the measured value is further than this from the setpoint, in `quantity`. */
  readonly runaway: number;
  /** The loop whose setpoint is this loop's output. */
  readonly inner?: string;
  /** The gains in force until the first save. */
  readonly defaults: Gains;
}

interface AxisDeclaration {
  /** What a rate does, as a verb. */
  readonly title: string;
  /** The quantity of a rate. */
  readonly quantity: 'm/s' | 'rad/s';
  /** The loop whose setpoint a rate moves. */
  readonly loop: string;
  /** The greatest rate unless the configuration sets a lower one, in `quantity`. */
  readonly greatestRate: number;
}

interface UnitDeclaration {
  readonly title: string;
  /** The kind that the controller's identity register must contain. */
  readonly kind: number;
  /** 7-bit I2C address. */
  readonly address: number;
  /** Whether telemetry carries the unit's pose on the floor. */
  readonly hasPose: boolean;
  /** Whether the unit looks for a target. */
  readonly hasCamera: boolean;
  /** The two axes that a person can drive, in the order of the register `motion`. */
  readonly axes: Readonly<Record<string, AxisDeclaration>>;
  readonly loops: Readonly<Record<string, LoopDeclaration>>;
}

/** What both visual loops share. */
const VISUAL = {
  quantity: 'rad',
  outputQuantity: 'rad',
  maxAmplitude: 0.2,
  excitationPeriodS: 2,
  defaults: { kp: 0.3, ki: 9, kd: 0 },
} as const;
/** What all angle loops share. */
const ANGLE = { quantity: 'rad', outputQuantity: 'V', excitationPeriodS: 2 } as const;

export const UNITS = {
  gimbal: {
    title: 'Gimbal',
    kind: 1,
    address: 0x20,
    hasPose: false,
    hasCamera: true,
    axes: {
      yaw: { title: 'turn the gimbal', quantity: 'rad/s', loop: 'angle_yaw', greatestRate: 3 },
      pitch: { title: 'tilt the gimbal', quantity: 'rad/s', loop: 'angle_pitch', greatestRate: 2 },
    },
    loops: {
      visual_yaw: { ...VISUAL, slot: 0, title: 'Visual loop, yaw', runaway: 0.5, inner: 'angle_yaw' },
      visual_pitch: { ...VISUAL, slot: 1, title: 'Visual loop, pitch', runaway: 0.4, inner: 'angle_pitch' },
      angle_yaw: {
        ...ANGLE,
        slot: 2,
        title: 'Angle loop, yaw',
        maxAmplitude: 0.5,
        runaway: 1.2,
        defaults: { kp: 300, ki: 300, kd: 7.5 },
      },
      angle_pitch: {
        ...ANGLE,
        slot: 3,
        title: 'Angle loop, pitch',
        maxAmplitude: 0.3,
        runaway: 0.75,
        defaults: { kp: 300, ki: 600, kd: 6 },
      },
    },
  },
  chassis: {
    title: 'Chassis',
    kind: 2,
    address: 0x21,
    hasPose: true,
    hasCamera: false,
    axes: {
      speed: { title: 'drive the chassis', quantity: 'm/s', loop: 'position', greatestRate: 1.5 },
      turn: { title: 'turn the chassis', quantity: 'rad/s', loop: 'angle', greatestRate: 3 },
    },
    loops: {
      speed: {
        slot: 0,
        title: 'Speed loop',
        quantity: 'm/s',
        outputQuantity: 'V',
        maxAmplitude: 1,
        excitationPeriodS: 2,
        runaway: 2.5,
        defaults: { kp: 40, ki: 320, kd: 0 },
      },
      angle: {
        ...ANGLE,
        slot: 1,
        title: 'Heading angle loop',
        maxAmplitude: 1,
        runaway: 2.2,
        defaults: { kp: 100, ki: 50, kd: 6 },
      },
      position: {
        slot: 2,
        title: 'Position loop',
        quantity: 'm',
        outputQuantity: 'm/s',
        maxAmplitude: 1,
        excitationPeriodS: 4,
        runaway: 2.5,
        inner: 'speed',
        defaults: { kp: 5, ki: 0, kd: 0 },
      },
    },
  },
} as const satisfies Readonly<Record<string, UnitDeclaration>>;

export type UnitName = keyof typeof UNITS;
/** The names of all axes differ. */
export type AxisName = { [U in UnitName]: keyof (typeof UNITS)[U]['axes'] }[UnitName];

export const MODES = ['auto', 'manual', 'debug'] as const;
export type Mode = (typeof MODES)[number];

/** Excitation period in debug mode, seconds. */
export const EXCITATION_PERIOD_S = { min: 0.1, max: 20, default: 1 } as const;

export interface Excitation {
  readonly loop: string;
  /** Half of peak to peak, in the loop's quantity; 0 moves nothing. */
  readonly amplitude: number;
  readonly periodS: number;
}

export interface Loop extends LoopDeclaration {
  readonly name: string;
  readonly unit: UnitName;
}

export interface Axis extends AxisDeclaration {
  readonly name: string;
}

/** How fast each axis of a unit moves, by the name of the axis. */
export type Rates = Readonly<Record<string, number>>;

/** The register `motion` holds rates as whole numbers of counts per m/s or rad/s. */
export const RATE_COUNTS = 1000;

/** The longest time that a drive command holds, in ms. */
export const MAX_HOLD_MS = 500;

export interface Unit extends Omit<UnitDeclaration, 'axes' | 'loops'> {
  readonly name: UnitName;
  readonly axes: readonly Axis[];
  /** The loops in slot order. */
  readonly loops: readonly Loop[];
}

function unit(name: UnitName): Unit {
  const declaration: UnitDeclaration = UNITS[name];
  const loops = Object.entries(declaration.loops)
    .map(([loop, fields]) => ({ name: loop, unit: name, ...fields }))
    .sort((a, b) => a.slot - b.slot);
  const axes = Object.entries(declaration.axes).map(([axis, fields]) => ({ name: axis, ...fields }));
  return { ...declaration, name, axes, loops };
}

const BY_NAME: Readonly<Record<UnitName, Unit>> = { gimbal: unit('gimbal'), chassis: unit('chassis') };

export const UNIT_LIST: readonly Unit[] = Object.values(BY_NAME);

export function isUnitName(name: string): name is UnitName {
  return name in BY_NAME;
}

export function unitNamed(name: UnitName): Unit {
  return BY_NAME[name];
}

/** Makes one value for each unit. */
export function perUnit<T>(make: (unit: Unit) => T): Record<UnitName, T> {
  return { gimbal: make(BY_NAME.gimbal), chassis: make(BY_NAME.chassis) };
}

export function defaultGains(of: Unit): GainSet {
  return Object.fromEntries(of.loops.map(loop => [loop.name, loop.defaults]));
}

/** Returns the gains of known loops only. A loop that is missing in `gains` gets its defaults. */
export function completeGains(of: Unit, gains: GainSet): GainSet {
  return Object.fromEntries(of.loops.map(loop => [loop.name, gains[loop.name] ?? loop.defaults]));
}
