import { DEFAULT_PERMISSIONS, type Permissions, PHASES, type Phase } from '../core/phases.js';
import { type Axis, type AxisName, type GainBounds, MODES, UNIT_LIST } from '../core/units.js';

/** One setting of the configuration file; checks, defaults and the commented default file derive from it. */
export interface Setting<T> {
  readonly default: T;
  /** JSON Schema, with `$data` and the keyword `silenceOfPolls` of config.ts. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** The words after "expected" in the message about a wrong value. */
  readonly expected: string;
  readonly doc: string;
}

export interface Interlock {
  readonly gpio: number;
  readonly activeLow: boolean;
}

const GPIO = { type: 'integer', minimum: 0, maximum: 53 };
const BOUNDS = objectOf({ min: { type: 'number' }, max: { type: 'number', minimum: { $data: '1/min' } } });

/** Schema of an object that has no other members than these. */
export function objectOf(properties: object) {
  return { type: 'object', properties, additionalProperties: false };
}

/** Schema of one phase's permissions. Permissions that the file leaves out keep their defaults. */
function permissions(defaults: Permissions): object {
  const { modes, ...flags } = defaults;
  const properties: Record<string, object> = {};
  for (const [name, value] of Object.entries(flags)) properties[name] = { type: 'boolean', default: value };
  properties.modes = { type: 'array', items: { enum: MODES }, uniqueItems: true, default: modes };
  return { ...objectOf(properties), default: defaults };
}

function setting<T>(made: Setting<T>): Setting<T> {
  return made;
}

function flag(value: boolean, doc: string): Setting<boolean> {
  return setting({ default: value, schema: { type: 'boolean' }, expected: 'true or false', doc });
}

function choice<const V extends string>(values: readonly V[], value: V, doc: string): Setting<V> {
  const expected = `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
  return setting({ default: value, schema: { enum: values }, expected, doc });
}

/** A setting for the greatest rate of each axis. A register holds rates up to 32 m/s or rad/s. */
function greatestRates(): Readonly<Record<AxisName, Setting<number>>> {
  const made = ({ quantity, greatestRate, title }: Axis) =>
    setting({
      default: greatestRate,
      schema: { type: 'number', minimum: 0, maximum: 32 },
      expected: `a rate from 0 to 32 ${quantity}`,
      doc: `Greatest rate at which a person or program may ${title} (${quantity}).`,
    });
  const axes = UNIT_LIST.flatMap(unit => unit.axes);
  return Object.fromEntries(axes.map(axis => [axis.name, made(axis)])) as Record<AxisName, Setting<number>>;
}

/** The ports that can be listened on; 0 takes any free one. */
export const PORTS = { minimum: 0, maximum: 65535 } as const;

export const SETTINGS = {
  http: {
    host: setting({
      default: '',
      schema: { type: 'string', minLength: 1, isListenHost: true },
      expected: 'an address to listen on, without a port, such as 0.0.0.0',
      doc: 'Address to listen on. Default: 0.0.0.0 on the robot, 127.0.0.1 under the simulator.',
    }),
    port: setting({
      default: 8080,
      schema: { type: 'integer', ...PORTS },
      expected: `a port from ${PORTS.minimum} to ${PORTS.maximum}, 0 for any free one`,
      doc: 'Port to listen on; 0 = any free port.',
    }),
    allowedHosts: setting<readonly string[]>({
      default: [],
      schema: { type: 'array', items: { type: 'string', minLength: 1 } },
      expected: 'a list of host names',
      doc: 'Host names that requests may use for this robot, besides its addresses, localhost and its own host name.',
    }),
  },
  i2c: {
    bus: setting({
      default: 1,
      schema: { type: 'integer', minimum: 0, maximum: 255 },
      expected: 'the number N of /dev/i2c-N',
      doc: 'The motor controllers are on /dev/i2c-N.',
    }),
  },
  laser: {
    gpio: setting({
      default: 17,
      schema: GPIO,
      expected: 'a BCM number from 0 to 53',
      doc: 'BCM number of the pin that switches the laser.',
    }),
    activeLow: flag(false, 'Whether a low level lights the laser.'),
    maxOnS: setting({
      default: 0,
      schema: { type: 'number', minimum: 0, maximum: 86400 },
      expected: 'a number of seconds, 0 or more',
      doc: 'The laser goes dark after this many seconds; 0 = no limit.',
    }),
    interlock: setting<Interlock | null>({
      default: null,
      schema: {
        type: ['object', 'null'],
        properties: {
          gpio: { ...GPIO, not: { const: { $data: '/laser/gpio' } } },
          activeLow: { type: 'boolean', default: false },
        },
        required: ['gpio'],
        additionalProperties: false,
      },
      expected: "null, or another pin than the laser's, such as {gpio: 5, activeLow: true}",
      doc: 'A contact that must be closed for light, such as {gpio: 5, activeLow: true}; null = none.',
    }),
  },
  supervision: {
    pollHz: setting({
      default: 50,
      schema: { type: 'number', minimum: 5, maximum: 100 },
      expected: 'a rate from 5 to 100 Hz',
      doc: 'Polls of each controller per second. Readings are sent at this rate.',
    }),
    hostSilenceMs: setting({
      default: 500,
      // If the silence were shorter than 3 polls, one lost poll would make the controller cut its torque.
      schema: { type: 'integer', anyOf: [{ const: 0 }, { minimum: 100 }], maximum: 60000, silenceOfPolls: 3 },
      expected: '0, or whole milliseconds from 100 to 60000 and of at least 3 polls',
      doc: 'Time without a heartbeat after which a controller takes torque off (ms, at least 3 polls); 0 = never. With 1000 a fast chassis brakes first: docs/performance.md.',
    }),
    onControllerReset: choice(
      ['manual', 'restore'],
      'manual',
      'Mode of a controller after it reset itself: manual, or restore for its last mode.',
    ),
  },
  drive: greatestRates(),
  gains: {
    bounds: setting<GainBounds>({
      default: {},
      schema: objectOf({ kp: BOUNDS, ki: BOUNDS, kd: BOUNDS }),
      expected: 'limits such as {kp: {min: 0, max: 100}}, min below max',
      doc: 'Gains outside these bounds are refused, such as {kp: {min: 0, max: 100}}; {} = no bounds.',
    }),
  },
  state: {
    folder: setting({
      default: '',
      schema: { type: 'string', minLength: 1 },
      expected: 'a folder',
      doc: 'Folder of gains, tokens, lock and log. Default: /var/lib/trunnion on the robot. Before you change it, read docs/install.md.',
    }),
  },
  access: {
    required: flag(
      false,
      'Whether every call except stop and laser off needs a token, even before the first token is made.',
    ),
    stop: choice(
      ['anyone', 'token'],
      'anyone',
      'Who may stop the robot and darken the laser: anyone, or only callers with the token of an operator or a referee.',
    ),
  },
  match: {
    refereeSilenceMs: setting({
      default: 3000,
      schema: { type: 'integer', minimum: 500, maximum: 60000 },
      expected: 'whole milliseconds from 500 to 60000',
      doc: "In the phases auto and teleop, the referee's desk counts as silent after this time without a beat (ms).",
    }),
    onRefereeSilence: choice(
      ['stop', 'hold'],
      'stop',
      'What the robot does if the desk is silent: stop, or hold to continue and only show it. With hold no lease is needed.',
    ),
    phases: setting<Readonly<Record<Phase, Permissions>>>({
      default: DEFAULT_PERMISSIONS,
      schema: objectOf(
        Object.fromEntries(PHASES.map(phase => [phase, permissions(DEFAULT_PERMISSIONS[phase])])),
      ),
      expected: 'phases such as {auto: {laser: false}}, each with some of drive, laser, tune, resume, modes',
      doc: 'What each phase allows, such as {auto: {laser: false}}. Permissions left out keep their defaults. A resume also needs drive and manual.',
    }),
  },
  log: {
    level: choice(['debug', 'info', 'warn', 'error'], 'info', 'The lowest level that is logged.'),
  },
} as const;

type Settings = typeof SETTINGS;
type ValueOf<S> = S extends Setting<infer T> ? T : never;

/** The configuration in force, with a value for every setting. */
export type Config = {
  readonly [Section in keyof Settings]: {
    readonly [Key in keyof Settings[Section]]: ValueOf<Settings[Section][Key]>;
  };
};
