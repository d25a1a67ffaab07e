import type { Metric } from '../core/metrics.js';
import { PHASES } from '../core/phases.js';
import { serveMetrics } from '../http/metrics-route.js';
import type { Route } from '../http/route.js';
import type { Desk } from './desk.js';
import type { DeskView, RobotView } from './show.js';

interface Source {
  readonly view: DeskView;
  readonly confirmS: number | undefined;
}

type Reading = number | boolean | undefined;

const ofRobots =
  (read: (robot: RobotView) => Reading) =>
  ({ view }: Source) =>
    view.robots.map(robot => [{ robot: robot.name }, read(robot)] as const);

/** About 13 series for each robot. */
const METRICS: readonly Metric<Source>[] = [
  ['trunnion_desk_heard', '1 if the robot was heard in the last 1.5 s.', ofRobots(({ heard }) => heard)],
  ['trunnion_desk_age_seconds', 'Age of what the desk knows.', ofRobots(({ ageS }) => ageS ?? undefined)],
  [
    'trunnion_desk_round_trip_seconds',
    'Time from a request to its answer.',
    ofRobots(({ roundTripMs }) => (roundTripMs === null ? undefined : roundTripMs / 1000)),
  ],
  [
    'trunnion_desk_phase',
    '1 for the phase that the robot shows.',
    ({ view }) =>
      view.robots.flatMap(({ name, phase }) =>
        PHASES.map(one => [{ robot: name, phase: one }, phase === one] as const),
      ),
  ],
  ['trunnion_desk_locked', '1 while a lock holds.', ofRobots(({ lock }) => lock !== null)],
  ['trunnion_desk_stopped', '1 while the robot is stopped.', ofRobots(({ stopped }) => stopped ?? undefined)],
  [
    'trunnion_desk_torque',
    '1 unless both units have proven that they have no torque.',
    ofRobots(
      ({ torque }) => torque !== null && Object.values(torque).some(one => one === 'on' || one === 'unknown'),
    ),
  ],
  ['trunnion_desk_light', '1 unless the laser is proven dark.', ofRobots(({ light }) => light !== 'dark')],
  [
    'trunnion_desk_contradicts',
    "1 if the robot's log contradicts.",
    ofRobots(({ contradicts }) => contradicts !== null),
  ],
  ['trunnion_desk_recorded', '1 if what happens is recorded.', ({ view }) => [[{}, view.recorded]]],
  [
    'trunnion_desk_lock_confirm_seconds',
    'Time until all robots confirmed, of the last LOCK ALL that all confirmed.',
    ({ confirmS }) => [[{}, confirmS]],
  ],
];

export function deskMetricsRoute(desk: Desk, view: () => DeskView): Route {
  return serveMetrics(METRICS, () => ({ view: view(), confirmS: desk.confirmS }));
}
