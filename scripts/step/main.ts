import { writeFileSync } from 'node:fs';
import type { MotorParameters } from '../../sim/physics/dc-motor.js';
import { ROBOT } from '../../sim/physics/robot-body.js';
import { argumentsOf, oneOf, refuse, script } from '../script.js';
import { type Curve, lineChart } from './line-chart.js';
import { type MotorStep, type StepResponse, stepResponse } from './step-response.js';
import { wheelUnderLoad } from './wheel-under-load.js';

const number = (about: string, usual?: string) => ({ type: 'string', about, default: usual }) as const;

const { values } = argumentsOf(
  {
    command: 'npm run -s step',
    about: `Prints the figures of a motor's step response as JSON.
The plant is --motor NAME, or a motor given by --j, --b, --k, --r and --l. Name --kp, --ki or --kd, or --open-loop.`,
  },
  {
    motor: {
      type: 'string',
      about: 'yaw, pitch or wheel: a motor of the robot at its output shaft, with its load',
    },
    j: number('inertia of the motor and its load, kg m2'),
    b: number('viscous friction, Nm s'),
    k: number('torque constant, Nm/A'),
    r: number('resistance, ohms'),
    l: number('inductance, henries', '0'),
    loop: { type: 'string', about: 'position or speed (default: position, in an open loop speed)' },
    kp: number('volts for a radian or a radian per second'),
    ki: number('the same for the integral'),
    kd: number('the same for the derivative'),
    'open-loop': { type: 'boolean', about: 'no controller: the step is a voltage' },
    rate: number('loop rate of the controller, Hz, up to 1000000', '1000'),
    delay: number('loop periods from a sample to its voltage', '0'),
    derivative: {
      type: 'string',
      about: 'error or measurement: the source of the derivative',
      default: 'error',
    },
    filter: number("time constant of the derivative's filter, seconds", '0'),
    saturation: number('largest voltage (default: no limit)'),
    step: number('size of the step in rad or rad/s, in an open loop in volts', '1'),
    seconds: number('length of the simulation', '5'),
    disturbance: number("volts that are added to the controller's from the start", '0'),
    svg: { type: 'string', about: 'file to write the curve to, as a picture' },
  },
);

const MAX_STEPS = 1e7;
/** Lowest rate of the motor's integration steps. */
const INTEGRATION_HZ = 100_000;
const SHOWN_DIGITS = 6;
const SHOWN_POINTS = 2000;

/** Parses the number of an option. Exits if it is not a number, or is outside the range. */
function given(
  option: keyof typeof values,
  least = Number.NEGATIVE_INFINITY,
  most = Number.MAX_VALUE,
): number {
  const text = values[option];
  if (typeof text !== 'string') return refuse(`--${option} is missing`);
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (value >= least && value <= most) return value;
  return refuse(`--${option} takes a number from ${least} to ${most}, not "${text}"`);
}

const POSITIVE = Number.MIN_VALUE;

function plant(supplyV: number): MotorParameters {
  if (values.motor !== undefined) {
    const name = oneOf('motor', values.motor, ['yaw', 'pitch', 'wheel']);
    return { ...(name === 'wheel' ? wheelUnderLoad() : ROBOT.motors[name]), supplyV };
  }
  return {
    inertiaKgM2: given('j', POSITIVE),
    viscousNmS: given('b', 0),
    coulombNm: 0,
    torqueNmA: given('k', POSITIVE),
    resistanceOhm: given('r', POSITIVE),
    inductanceH: given('l', 0),
    supplyV,
  };
}

function step(): MotorStep {
  const isOpen = values['open-loop'] === true;
  const gains = [values.kp, values.ki, values.kd];
  if (isOpen === gains.some(gain => gain !== undefined)) refuse('give --kp, --ki or --kd, or --open-loop');
  const gain = (option: 'kp' | 'ki' | 'kd') => (values[option] === undefined ? 0 : given(option));
  const rateHz = given('rate', 1, 1_000_000);
  const seconds = given('seconds', 1 / rateHz);
  const substeps = Math.ceil(INTEGRATION_HZ / rateHz);
  if (seconds * rateHz * substeps > MAX_STEPS) {
    refuse(`--seconds ${seconds} at --rate ${rateHz} is more than ${MAX_STEPS} steps`);
  }
  return {
    motor: plant(values.saturation === undefined ? Number.POSITIVE_INFINITY : given('saturation', POSITIVE)),
    loop: oneOf('loop', values.loop ?? (isOpen ? 'speed' : 'position'), ['position', 'speed']),
    gains: isOpen ? 'open-loop' : { kp: gain('kp'), ki: gain('ki'), kd: gain('kd') },
    rateHz,
    delaySamples: Math.round(given('delay', 0, 1_000_000)),
    derivative: oneOf('derivative', values.derivative, ['error', 'measurement']),
    filterS: given('filter', 0),
    seconds,
    size: given('step'),
    disturbanceV: given('disturbance'),
    substeps,
  };
}

function picture({ measured, periodS }: StepResponse, { gains, loop, rateHz, size }: MotorStep): string {
  const every = Math.ceil(measured.length / SHOWN_POINTS);
  const points = [...measured].flatMap((value, index) =>
    index % every === 0 && Number.isFinite(value) ? [[index * periodS, value] as const] : [],
  );
  const curves: Curve[] = [{ name: 'measured', points, colour: '#0057b8' }];
  if (gains !== 'open-loop') {
    const ends = [points[0], points.at(-1)].map(point => [point?.[0] ?? 0, size] as const);
    curves.push({ name: 'setpoint', points: ends, colour: '#888', isDashed: true });
  }
  const title =
    gains === 'open-loop' ? 'voltage step' : `kp ${gains.kp}, ki ${gains.ki}, kd ${gains.kd} at ${rateHz} Hz`;
  return lineChart({ title, across: 'seconds', up: loop === 'position' ? 'rad' : 'rad/s', curves });
}

await script(() => {
  const asked = step();
  const response = stepResponse(asked);
  if (values.svg !== undefined) writeFileSync(values.svg, picture(response, asked));
  const rounded = (_name: string, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(SHOWN_DIGITS)) : value;
  console.log(JSON.stringify({ ...response.figures, diverged: response.diverged }, rounded, 2));
});
