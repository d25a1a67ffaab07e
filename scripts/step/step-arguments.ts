import { parseArgs } from 'node:util';
import type { MotorParameters } from '../../sim/physics/dc-motor.js';
import { ROBOT } from '../../sim/physics/robot-body.js';
import { messageOf } from '../../src/core/errors.js';
import type { StepTrial } from './step-response.js';
import { wheelUnderLoad } from './wheel-under-load.js';

export const USAGE = `Usage: npm run -s step -- PLANT [options]     prints the step's figures as JSON

Plant, one of:
  --motor NAME              a motor of the robot: yaw, pitch, wheel (at its output shaft, with its load)
  --j J --b B --k K --r R [--l L]
                            inertia kg m2, viscous friction Nm s, torque constant Nm/A, ohms, henries

Loop:
  --loop position|speed     what is controlled and shown; default position, in an open loop speed
  --kp --ki --kd            gains, on rad or rad/s, to volts; default 0
  --open-loop               no controller: the step is a voltage
  --rate HZ                 of the controller, up to 1000000; default 1000
  --delay SAMPLES           from a sample until its voltage is out; default 0
  --derivative error|measurement    what the derivative is taken of; default error
  --filter SECONDS          time constant of the derivative's filter; default 0
  --saturation VOLTS        largest voltage; default none

Trial:
  --step SIZE               rad, rad/s, or V in an open loop; default 1
  --seconds S               default 5
  --disturbance VOLTS       added to the controller's voltage from the start; default 0
  --svg FILE                writes the curve as a picture
`;

/** Thrown where the command line makes no sense. */
export class UsageError extends Error {}

export interface StepArguments {
  readonly trial: StepTrial;
  readonly svgFile: string | undefined;
}

const NUMBERS = [
  'j',
  'b',
  'k',
  'r',
  'l',
  'kp',
  'ki',
  'kd',
  'rate',
  'delay',
  'filter',
  'saturation',
  'seconds',
  'step',
  'disturbance',
] as const;
type NumberOption = (typeof NUMBERS)[number];

const WORDS = ['motor', 'loop', 'derivative', 'svg'] as const;

const MAX_STEPS = 1e7;
/** Between the controller's samples the motor is looked at so often at least. */
const LOOKS_HZ = 100_000;

/** `--kp -5` as `--kp=-5`, which the parser would take for an option otherwise. */
function joinNegatives(args: readonly string[]): string[] {
  const joined: string[] = [];
  for (const arg of args) {
    const last = joined.at(-1);
    if (/^-[.\d]/.test(arg) && last !== undefined && /^--[a-z-]+$/.test(last))
      joined.splice(-1, 1, `${last}=${arg}`);
    else joined.push(arg);
  }
  return joined;
}

function parse(args: readonly string[]): Readonly<Record<string, unknown>> {
  const texts = Object.fromEntries([...NUMBERS, ...WORDS].map(name => [name, { type: 'string' } as const]));
  const flags = { 'open-loop': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
  try {
    return parseArgs({ args: joinNegatives(args), options: { ...texts, ...flags } }).values;
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

interface Range {
  readonly above?: number;
  readonly least?: number;
  readonly most?: number;
  readonly whole?: boolean;
}

const RANGES: Readonly<Partial<Record<NumberOption, Range>>> = {
  j: { above: 0 },
  b: { least: 0 },
  k: { above: 0 },
  r: { above: 0 },
  l: { least: 0 },
  rate: { least: 1, most: 1_000_000 },
  delay: { least: 0, most: 1_000_000, whole: true },
  filter: { least: 0 },
  saturation: { above: 0 },
  seconds: { above: 0 },
};

function checked(name: NumberOption, text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  const { above, least, most, whole } = RANGES[name] ?? {};
  const refuse = (wanted: string) => new UsageError(`--${name} must be ${wanted}, not "${text}"`);
  if (!Number.isFinite(value)) throw refuse('a number');
  if (above !== undefined && !(value > above)) throw refuse(`above ${above}`);
  if (least !== undefined && !(value >= least)) throw refuse(`at least ${least}`);
  if (most !== undefined && !(value <= most)) throw refuse(`at most ${most}`);
  if (whole && !Number.isInteger(value)) throw refuse('a whole number');
  return value;
}

function oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const chosen = choices.find(choice => choice === text);
  if (chosen === undefined) throw new UsageError(`--${name} must be ${choices.join(' or ')}, not "${text}"`);
  return chosen;
}

function plant(
  motor: string | undefined,
  numbers: ReadonlyMap<NumberOption, number>,
  supplyV: number,
): MotorParameters {
  const typed = (['j', 'b', 'k', 'r', 'l'] as const).filter(name => numbers.has(name));
  if (motor !== undefined) {
    if (typed.length > 0) throw new UsageError(`--motor and --${typed[0]} exclude each other`);
    const name = oneOf('motor', motor, ['yaw', 'pitch', 'wheel']);
    return { ...(name === 'wheel' ? wheelUnderLoad() : ROBOT.motors[name]), supplyV };
  }
  const [j, b, k, r] = [numbers.get('j'), numbers.get('b'), numbers.get('k'), numbers.get('r')];
  if (j === undefined || b === undefined || k === undefined || r === undefined) {
    throw new UsageError('the plant is missing: give --motor NAME, or all of --j --b --k --r');
  }
  return {
    inertiaKgM2: j,
    viscousNmS: b,
    coulombNm: 0,
    torqueNmA: k,
    resistanceOhm: r,
    inductanceH: numbers.get('l') ?? 0,
    supplyV,
  };
}

/** Throws UsageError. */
export function stepArguments(args: readonly string[]): StepArguments | 'help' {
  const values = parse(args);
  if (values.help === true) return 'help';
  const numbers = new Map(
    NUMBERS.flatMap(name => {
      const text = values[name];
      return typeof text === 'string' ? [[name, checked(name, text)]] : [];
    }),
  );
  const number = (name: NumberOption, otherwise: number) => numbers.get(name) ?? otherwise;
  const word = (name: (typeof WORDS)[number]) =>
    typeof values[name] === 'string' ? values[name] : undefined;

  const open = values['open-loop'] === true;
  const given = (['kp', 'ki', 'kd'] as const).filter(name => numbers.has(name));
  if (open && given.length > 0)
    throw new UsageError(`--open-loop has no controller: leave out --${given[0]}`);
  if (!open && given.length === 0) throw new UsageError('give --kp, --ki or --kd, or --open-loop');
  const size = number('step', 1);
  const disturbanceV = number('disturbance', 0);
  if (size === 0 && disturbanceV === 0) throw new UsageError('--step 0 needs a --disturbance');

  const rateHz = number('rate', 1000);
  const seconds = number('seconds', 5);
  const substeps = Math.ceil(LOOKS_HZ / rateHz);
  if (seconds * rateHz < 1) throw new UsageError(`--seconds ${seconds} is less than one period of --rate`);
  if (seconds * rateHz * substeps > MAX_STEPS) {
    throw new UsageError(`--seconds ${seconds} at --rate ${rateHz} is more than ${MAX_STEPS} steps`);
  }
  const trial: StepTrial = {
    motor: plant(word('motor'), numbers, number('saturation', Number.POSITIVE_INFINITY)),
    loop: oneOf('loop', word('loop') ?? (open ? 'speed' : 'position'), ['position', 'speed']),
    gains: open ? 'open-loop' : { kp: number('kp', 0), ki: number('ki', 0), kd: number('kd', 0) },
    rateHz,
    delaySamples: number('delay', 0),
    derivative: oneOf('derivative', word('derivative') ?? 'error', ['error', 'measurement']),
    filterS: number('filter', 0),
    seconds,
    size,
    disturbanceV,
    substeps,
  };
  return { trial, svgFile: word('svg') };
}
