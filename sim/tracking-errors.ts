import type { GainSet, UnitName } from '../src/core/units.js';
import { BareRobot } from './bare-robot.js';
import type { PhysicsOptions } from './robot-physics.js';

type Sample = readonly [what: string, of: (robot: BareRobot) => number];

const error = (unit: UnitName, loop: string) => (robot: BareRobot) => {
  const { setpoint, measured } = robot.reading(unit, loop);
  return setpoint - measured;
};
const beside = (robot: BareRobot) => Number(robot.physics.loops.chassis.axes.besideCourseM);

const STANDING: readonly Sample[] = [
  ['target off the boresight, yaw, chassis standing (rad)', error('gimbal', 'visual_yaw')],
  ['target off the boresight, pitch, chassis standing (rad)', error('gimbal', 'visual_pitch')],
];

const ON_COURSE: readonly Sample[] = [
  ['target off the boresight, yaw, chassis on its course (rad)', error('gimbal', 'visual_yaw')],
  ['target off the boresight, pitch, chassis on its course (rad)', error('gimbal', 'visual_pitch')],
  ['place along the course (m)', error('chassis', 'position')],
  ['distance beside the course (m)', beside],
  ['heading (rad)', error('chassis', 'angle')],
  ['speed (m/s)', error('chassis', 'speed')],
];

/** The errors during a minute in auto, root mean square and largest. Uses the default gains if none are given. */
export function trackingErrors(
  options: PhysicsOptions,
  gains: Readonly<Partial<Record<UnitName, GainSet>>> = {},
) {
  const during = (chassisMode: 'manual' | 'auto', samples: readonly Sample[]) => {
    const robot = new BareRobot(options);
    if (gains.gimbal !== undefined) robot.command('gimbal', { gains: gains.gimbal });
    if (gains.chassis !== undefined) robot.command('chassis', { gains: gains.chassis });
    robot.command('gimbal', { mode: 'auto' });
    robot.command('chassis', { mode: chassisMode });
    robot.run(5);
    const sums = samples.map(([what, of]) => ({ what, of, squares: 0, most: 0, count: 0 }));
    robot.run(60, () => {
      for (const sum of sums) {
        const value = Math.abs(sum.of(robot));
        sum.squares += value * value;
        sum.most = Math.max(sum.most, value);
        sum.count += 1;
      }
    });
    return sums.map(({ what, squares, most, count }) => ({ what, rms: Math.sqrt(squares / count), most }));
  };
  return [...during('manual', STANDING), ...during('auto', ON_COURSE)];
}
