import type { Histogram, Metric } from '../../core/metrics.js';
import { perUnit, UNIT_LIST, type UnitName } from '../../core/units.js';
import { FAULTS } from '../../protocol/registers.js';
import type { Status } from '../../schemas/status.js';
import type { AppOptions } from '../app-options.js';
import { serveMetrics } from '../metrics-route.js';
import type { Route } from '../route.js';
import type { RouteCounts } from '../route-counts.js';

/** The status, and what only the metrics show. */
interface Source extends Status {
  readonly counts: RouteCounts;
  readonly timerDelay: Histogram;
  readonly litMs: number;
  readonly missedPolls: Readonly<Record<UnitName, number>>;
}

/** A value without labels. */
const one = <Value>(value: Value) => [[{}, value] as const];
const ofUnits = <Value>(read: (name: UnitName) => Value) =>
  UNIT_LIST.map(({ name }) => [{ unit: name }, read(name)] as const);

/** At most 150 series in all. */
const METRICS: readonly Metric<Source>[] = [
  ['trunnion_uptime_seconds', 'Since the start of the daemon.', ({ uptimeS }) => one(uptimeS)],
  ['trunnion_stopped', '1 while the robot is stopped.', ({ stopped }) => one(stopped)],
  ['trunnion_locked', '1 while a lock holds.', ({ match }) => one(match.lock !== null)],
  ['trunnion_disk_ok', '1 if gains and log are kept.', ({ storage, log }) => one(storage.ok && log.ok)],
  ['trunnion_laser_fault', '1 if the pin does not obey.', ({ laser }) => one(laser.light === 'fault')],
  ['trunnion_laser_lit_seconds_total', 'Time with light.', ({ litMs }) => one(litMs / 1000)],
  ['trunnion_unit_online', '1 if the controller answers.', units => ofUnits(name => units[name].online)],
  ['trunnion_gains_revision', 'In force.', units => ofUnits(name => units[name].gains.revision)],
  [
    'trunnion_unit_fault',
    '1 while the controller shows this fault.',
    units =>
      UNIT_LIST.flatMap(({ name }) =>
        FAULTS.map(fault => [{ unit: name, fault }, units[name].faults.includes(fault)] as const),
      ),
  ],
  [
    'trunnion_missed_polls_total',
    'Polls that failed.',
    ({ missedPolls }) => ofUnits(name => missedPolls[name]),
  ],
  ['trunnion_bus_transactions_total', 'Frames on the bus.', ({ bus }) => one(bus.transactions)],
  ['trunnion_bus_retries_total', 'Frames sent again.', ({ bus }) => one(bus.retries)],
  [
    'trunnion_bus_errors_total',
    'Frames that failed, by code.',
    ({ bus }) => Object.entries(bus.errors).map(([code, count]) => [{ code }, count] as const),
  ],
  ['trunnion_http_requests_total', 'Answers by route and status.', ({ counts }) => counts.answers.values()],
  [
    'trunnion_stop_duration_seconds',
    'Time to answer a stop.',
    ({ counts }) => one(counts.durations.get('stop')),
  ],
  [
    'trunnion_save_duration_seconds',
    'Time to answer a save of gains.',
    ({ counts }) => ofUnits(name => counts.durations.get(`${name}SaveGains`)),
  ],
  ['trunnion_event_loop_delay_seconds', 'Lateness of the polls.', ({ timerDelay }) => one(timerDelay)],
  ['process_resident_memory_bytes', 'Resident memory.', () => one(process.memoryUsage.rss())],
  [
    'process_cpu_seconds_total',
    'Processor time.',
    () => one(process.cpuUsage().user / 1e6 + process.cpuUsage().system / 1e6),
  ],
];

/** The metrics of the robot. Its events give the time with light and the failed polls. */
export function metricsRoute(options: AppOptions, statusNow: () => Status, counts: RouteCounts): Route {
  const { robot, clock } = options;
  const missedPolls = perUnit(() => 0);
  let darkLitMs = 0;
  let litSinceMs: number | undefined;
  const litMs = () => darkLitMs + (litSinceMs === undefined ? 0 : clock.nowMs() - litSinceMs);
  robot.events.add(event => {
    if (event.what === 'poll-failed') missedPolls[event.unit] += 1;
    if (event.what !== 'laser') return;
    darkLitMs = litMs();
    litSinceMs = event.detail.after === 'on' ? clock.nowMs() : undefined;
  });
  const { timerDelay } = robot;
  const source = () => ({ ...statusNow(), counts, timerDelay, litMs: litMs(), missedPolls });
  return serveMetrics(METRICS, source);
}
