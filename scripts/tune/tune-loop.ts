import { BareRobot } from '../../sim/bare-robot.js';
import type { PhysicsOptions } from '../../sim/robot-physics.js';
import { TUNING_PART } from '../../src/core/tuning-terms.js';
import type { Gains, Loop, Unit } from '../../src/core/units.js';
import { shapeOf } from '../../src/tuning/plant.js';
import { type Measured, measure, type TuneResult, tune } from '../../src/tuning/tuner.js';
import { BareRobotPort } from './bare-robot-port.js';

type Start = (defaults: Gains) => Gains;

/** Starting gains that --matrix leaves out. No tuning can correct gains of the wrong sign. */
const OTHER_STARTS: Readonly<Record<string, Start>> = {
  'as they are': gains => gains,
  'wrong way': ({ kp, ki, kd }) => ({ kp: -kp, ki: -ki, kd: -kd }),
};

/** Bad gains to start from, by name. */
export const STARTS: Readonly<Record<string, Start>> = {
  'x0.3': ({ kp, ki, kd }) => ({ kp: 0.3 * kp, ki: 0.3 * ki, kd: 0.3 * kd }),
  x3: ({ kp, ki, kd }) => ({ kp: 3 * kp, ki: 3 * ki, kd: 3 * kd }),
  'kp x3': ({ kp, ki, kd }) => ({ kp: 3 * kp, ki, kd }),
  'kp x0.3, ki x3': ({ kp, ki, kd }) => ({ kp: 0.3 * kp, ki: 3 * ki, kd }),
  'P x0.1': ({ kp }) => ({ kp: 0.1 * kp, ki: 0, kd: 0 }),
  'kd 0, ki x5': ({ kp, ki }) => ({ kp, ki: 5 * ki, kd: 0 }),
};

export interface LoopTuning {
  readonly unit: Unit;
  readonly loop: Loop;
  readonly start: string;
  readonly result: TuneResult;
  /** The figures of the loop's gains at the end. */
  readonly after: Measured;
  readonly defaults: Measured;
  readonly isGood: boolean;
  /** The simulated time that the tuning took. */
  readonly seconds: number;
  /** The longest time for which the loop kept ringing. */
  readonly longestRingingS: number;
  readonly words: readonly string[];
}

/** Good gains settle within this many times the settling time of the default gains on the same robot. */
const SETTLING = 1.5;
const OVERSHOOT = 5;
const OVERSHOOT_MORE = 3;

/** Tunes one loop of a robot. The other loops have their default gains, unless `prepare` sets others. */
export async function tuneLoop(
  options: PhysicsOptions,
  unit: Unit,
  loop: Loop,
  start: string,
  prepare: (robot: BareRobot) => void = () => undefined,
): Promise<LoopTuning> {
  const change = STARTS[start] ?? OTHER_STARTS[start];
  if (change === undefined) throw new RangeError(`no start is called ${start}`);
  const tuned = (gains: Gains) => {
    const robot = new BareRobot(options);
    prepare(robot);
    robot.run(1);
    const port = new BareRobotPort(robot, unit.name, loop);
    const shape = shapeOf(loop, robot.physics.loopRateHz);
    const amplitude = TUNING_PART * loop.maxAmplitude;
    const task = { shape, gains, amplitude, periodS: loop.excitationPeriodS, style: 'normal' } as const;
    return { port, task };
  };
  const { port, task } = tuned(change(loop.defaults));
  const result = await tune(task, port);
  const reference = tuned(loop.defaults);
  const defaults = await measure(reference.task, reference.port);
  const after = result.proposed ?? result.before;
  const isGood =
    after.figures.end === 'settled' &&
    (after.figures.settlingS ?? Number.POSITIVE_INFINITY) <=
      SETTLING * (defaults.figures.settlingS ?? Number.POSITIVE_INFINITY) &&
    (after.figures.overshootPercent ?? 0) <=
      Math.max(OVERSHOOT, (defaults.figures.overshootPercent ?? 0) + OVERSHOOT_MORE);
  const { seconds, longestRingingS, words } = port;
  return { unit, loop, start, result, after, defaults, isGood, seconds, longestRingingS, words };
}
