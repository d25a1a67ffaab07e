import { type Clock, every } from '../core/clock.js';
import type { Listeners } from '../core/listeners.js';
import type { LogEvent } from '../core/log-event.js';
import type { Status } from '../core/status.js';
import type { Step } from '../core/step.js';
import type { Pose, Reading, UnitTelemetry } from '../core/telemetry.js';
import type { Tune } from '../core/tune.js';
import { perUnit, type Unit } from '../core/units.js';
import type { Robot } from '../robot/robot.js';
import type { FiguredStep } from '../steps/step-memory.js';
import type { EventFeed } from './events.js';

/** Flags and other readings change without an event, so they are compared this often. */
const LOOK_MS = 100;

/** What the event stream shows of a robot. */
export function robotFeed(
  robot: Robot,
  clock: Clock,
  status: () => Status,
  recorded: Listeners<LogEvent>,
  tuned: Listeners<Tune>,
  captured: Listeners<FiguredStep>,
): EventFeed {
  /** Uptime and counters change all the time, and nobody waits for them. */
  const lasting = () => JSON.stringify({ ...status(), uptimeS: undefined, bus: undefined });

  return {
    status,
    onStatus: listener => {
      let known = lasting();
      const look = () => {
        const now = lasting();
        if (now === known) return;
        known = now;
        listener();
      };
      const ends = [robot.changed.add(look), every(clock, LOOK_MS, look)];
      return () => {
        for (const end of ends) end();
      };
    },
    onTelemetry: listener =>
      robot.polled.add(() => {
        listener({ t: clock.nowMs() / 1000, ...perUnit(unit => readings(robot, unit)) });
      }),
    onLog: listener => recorded.add(listener),
    onTune: listener => tuned.add(listener),
    onStep: listener => captured.add(step => listener(stepOf(step))),
  };
}

/** Null while the unit is offline. */
function readings(robot: Robot, { name, loops, hasPose, hasCamera }: Unit): UnitTelemetry | null {
  const { telemetry, state } = robot.units[name];
  if (telemetry === undefined) return null;
  const value = (field: string) => telemetry[field] ?? Number.NaN;
  const reading = (loop: string): Reading => ({
    setpoint: value(`${loop}.setpoint`),
    measured: value(`${loop}.measured`),
    output: value(`${loop}.output`),
  });
  const pose = (): Pose => ({ x: value('pose.x'), y: value('pose.y'), heading: value('pose.heading') });
  return {
    ...Object.fromEntries(loops.map(loop => [loop.name, reading(loop.name)])),
    ...(hasPose && { pose: pose() }),
    ...(hasCamera && { target: state.flags.includes('target_visible') }),
  };
}

function stepOf({ unit, capture, figures }: FiguredStep): Step {
  const { loop, number, rateHz, decimation, setpoint, measured } = capture;
  const periodS = decimation / rateHz;
  return { unit, loop, number, rateHz, decimation, periodS, samples: { setpoint, measured }, figures };
}
