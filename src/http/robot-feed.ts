import type { Autotune } from '../autotune/autotune.js';
import { type Clock, every } from '../core/clock.js';
import { perUnit, UNIT_LIST, type Unit } from '../core/units.js';
import type { EventLog } from '../events/event-log.js';
import type { Robot } from '../robot/robot.js';
import type { Status } from '../schemas/status.js';
import type { UnitTelemetry } from '../schemas/telemetry.js';
import type { StepMemory } from '../steps/step-memory.js';
import type { EventFeed } from './events.js';

/** Flags and other readings change without an event, so the feed compares the status this often. */
const COMPARE_MS = 100;

interface Sources {
  readonly robot: Robot;
  readonly clock: Clock;
  readonly eventLog: Pick<EventLog, 'recorded'>;
  readonly autotune: Pick<Autotune, 'changed'>;
  readonly steps: Pick<StepMemory, 'captured'>;
}

/** The events of a robot for its event stream. */
export function robotFeed(
  { robot, clock, eventLog, autotune, steps }: Sources,
  status: () => Status,
): EventFeed {
  return {
    status,
    lasting: () => JSON.stringify({ ...status(), uptimeS: undefined, bus: undefined }),
    isDriven: () => UNIT_LIST.some(({ name }) => (robot.units[name].mode ?? 'manual') !== 'manual'),
    onStatus: listener => {
      const ends = [robot.changed.add(listener), every(clock, COMPARE_MS, listener)];
      return () => {
        for (const end of ends) end();
      };
    },
    onTelemetry: listener => {
      // Nobody listened before, so the first readings may be older than a poll.
      let isFirst = true;
      return robot.followed.add(() => {
        if (!isFirst) listener({ t: clock.nowMs() / 1000, ...perUnit(unit => telemetryOf(robot, unit)) });
        isFirst = false;
      });
    },
    onLog: listener => eventLog.recorded.add(({ event }) => listener(event)),
    onTune: listener => autotune.changed.add(listener),
    onStep: listener => steps.captured.add(listener),
  };
}

/** Null while the unit is offline. */
function telemetryOf(robot: Robot, { name, hasCamera }: Unit): UnitTelemetry | null {
  const { telemetry, flags } = robot.units[name];
  if (telemetry === undefined) return null;
  const { loops, pose } = telemetry;
  return { ...loops, ...(pose && { pose }), ...(hasCamera && { target: flags.includes('target_visible') }) };
}
