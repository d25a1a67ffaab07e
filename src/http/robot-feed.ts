import type { Clock } from '../core/clock.js';
import { stepFigures } from '../core/step-figures.js';
import { perUnit, type Unit } from '../core/units.js';
import type { CapturedStep, Robot } from '../robot/robot.js';
import type { EventFeed, StepRecord } from './events.js';

/** What the event stream tells of a robot. `status` gives the body of GET /api/status. */
export function robotFeed(robot: Robot, clock: Clock, status: () => Record<string, unknown>): EventFeed {
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
      const ends = [robot.changed.add(look), robot.polled.add(look)];
      return () => {
        for (const end of ends) end();
      };
    },
    onTelemetry: listener =>
      robot.polled.add(() => {
        listener({ t: clock.nowMs() / 1000, ...perUnit(unit => readings(robot, unit)) });
      }),
    onStep: listener => robot.stepped.add(step => listener(stepRecord(step))),
  };
}

/** The loops by name, and what else the unit shows beside them; null while it is offline. */
function readings(robot: Robot, { name, hasCamera }: Unit): Record<string, unknown> | null {
  const { telemetry, state } = robot.units[name];
  if (telemetry === undefined) return null;
  const grouped: Record<string, Record<string, number>> = {};
  for (const [field, value] of Object.entries(telemetry)) {
    const [group = '', member] = field.split('.');
    if (member !== undefined) grouped[group] = { ...grouped[group], [member]: value };
  }
  return hasCamera ? { ...grouped, target: state.flags.includes('target_visible') } : grouped;
}

function stepRecord({ unit, capture }: CapturedStep): StepRecord {
  const { loop, number, rateHz, decimation, setpoint, measured } = capture;
  const periodS = decimation / rateHz;
  const { finalValue, ...figures } = stepFigures({ measured, periodS, setpoint: setpoint.at(-1) ?? 0 });
  return { unit, loop, number, rateHz, decimation, periodS, samples: { setpoint, measured }, figures };
}
