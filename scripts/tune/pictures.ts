import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { RobotTrial } from '../../sim/trials/robot-trial.js';
import { type Gains, unitNamed } from '../../src/core/units.js';
import { simulate } from '../../src/tuning/closed-loop.js';
import { worthOf } from '../../src/tuning/design.js';
import { type ExcitedRun, edgeOf } from '../../src/tuning/excited-run.js';
import { courseOf } from '../../src/tuning/fit.js';
import { shapeOf } from '../../src/tuning/loop-shape.js';
import { propose } from '../../src/tuning/propose.js';
import { type Curve, lineChart } from './line-chart.js';
import { TrialPort } from './trial-port.js';

const UNIT = unitNamed('gimbal');
const LOOP = 'angle_yaw';
const AMPLITUDE_RAD = 0.15;
const SHARE = 0.3;
/** The length of the picture of a step. */
const STEP_S = 0.4;

const GREY = '#777';
const BLUE = '#1769aa';
const ORANGE = '#c75300';
const GREEN = '#2b7a2b';

/** Draws what docs/tuning.md explains: how the tuner goes from a third of the default gains to good ones, on the simulated robot. */
export async function drawPictures(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const loop = UNIT.loops.find(({ name }) => name === LOOP);
  if (loop === undefined) throw new RangeError(`no loop ${LOOP}`);
  const robot = new RobotTrial({ seed: 1 });
  robot.run(1);
  const port = new TrialPort(robot, UNIT.name, loop);
  const shape = shapeOf(loop, robot.physics.loopRateHz);
  const recorded = async (gains: Gains): Promise<ExcitedRun> => {
    await port.tryGains(gains);
    const wave = {
      amplitude: AMPLITUDE_RAD,
      periodS: loop.excitationPeriodS,
      halves: 3,
      runaway: 1,
      swingsOn: () => false,
      rings: () => false,
    };
    return { ...(await port.excite(wave)), gains };
  };
  const { kp, ki, kd } = loop.defaults;
  const before = await recorded({ kp: SHARE * kp, ki: SHARE * ki, kd: SHARE * kd });
  const { fit, design, curve } = propose({ shape, runs: [before], style: 'normal' });
  const after = await recorded(design.gains);

  const simulated = new Float64Array(before.halves.length * before.halfTicks);
  simulate(fit.plant, shape, before.gains, courseOf(before, fit.bridged), simulated);
  const fitted = Array.from(simulated, (value, tick) => [tick * shape.periodS, value] as const);
  const recording = lineChart({
    title: `1. The recording, with ${SHARE} of the default gains, and the plant that explains it`,
    across: 'seconds',
    up: 'angle, rad',
    curves: [
      { name: 'setpoint', points: setpointOf(before, shape.periodS), colour: GREY },
      { name: 'measured', points: measuredOf(before, shape.periodS), colour: BLUE },
      {
        name: `fitted plant (leaves ${fit.errorPercent.toFixed(1)} % of the step)`,
        points: fitted.filter((_, tick) => tick % before.decimation === 0),
        colour: ORANGE,
        isDashed: true,
      },
    ],
  });

  const task = {
    shape,
    plant: fit.plant,
    horizon: { size: 2 * AMPLITUDE_RAD, seconds: loop.excitationPeriodS / 2, output: before.output },
    gains: before.gains,
    sigma: 0,
    sampleS: before.decimation * shape.periodS,
    style: 'normal',
  } as const;
  const factors = Array.from({ length: 61 }, (_, index) => 0.4 + index * 0.04);
  const costOf = (gains: Gains) => 1000 * worthOf(task, gains).cost;
  const costs = factors.map(
    factor =>
      [
        factor,
        costOf({ ...design.gains, kp: factor * design.gains.kp, kd: factor * design.gains.kd }),
      ] as const,
  );
  const cost = lineChart({
    title: '2. The cost of gains on that plant: the bottom is flat, and the gentle side of it is taken',
    across: 'kp and kd, as a multiple of those proposed',
    up: 'cost, ms',
    curves: [
      { name: 'cost', points: costs.filter(([, value]) => value < 4 * costOf(design.gains)), colour: BLUE },
      {
        name: 'proposed',
        points: [1, 1].map((x, end) => [x, end * costOf(design.gains)]),
        colour: GREEN,
        isDashed: true,
      },
    ],
  });

  const step = lineChart({
    title: '3. A step with the proposed gains: foretold, and then measured in a trial of its own',
    across: 'seconds after the edge',
    up: 'angle, rad',
    curves: [
      { name: 'before', points: lastStepOf(before, shape.periodS), colour: GREY },
      {
        name: 'foretold',
        points: curve.measured.map((value, index) => [index * curve.periodS, value] as const),
        colour: ORANGE,
        isDashed: true,
      },
      { name: 'measured', points: lastStepOf(after, shape.periodS), colour: GREEN },
    ].map(within),
  });
  for (const [name, text] of Object.entries({ recording, cost, step })) {
    await writeFile(join(folder, `tuning-${name}.svg`), text);
  }
}

type Points = Curve['points'];

function setpointOf({ halves, halfTicks }: ExcitedRun, periodS: number): Points {
  return halves.flatMap((half, index) => {
    const { to } = edgeOf(half);
    return [index, index + 1].map(edge => [edge * halfTicks * periodS, to] as const);
  });
}

function measuredOf({ halves, halfTicks, decimation }: ExcitedRun, periodS: number): Points {
  return halves.flatMap(({ measured }, half) =>
    measured.map((value, sample) => [(half * halfTicks + sample * decimation) * periodS, value] as const),
  );
}

/** The last step from the wave's lower end to its upper. */
function lastStepOf({ halves, decimation }: ExcitedRun, periodS: number): Points {
  const last = halves.at(-1)?.measured ?? [];
  return last.map((value, sample) => [sample * decimation * periodS, value] as const);
}

function within(curve: Curve): Curve {
  return { ...curve, points: curve.points.filter(([x]) => x <= STEP_S) };
}
