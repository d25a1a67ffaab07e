import type { Clock } from '../core/clock.js';
import type { Listeners } from '../core/listeners.js';
import { perUnit, UNIT_LIST, type Unit } from '../core/units.js';
import type { Robot } from '../robot/robot.js';
import type { Telemetry, UnitTelemetry } from '../schemas/telemetry.js';

/** The readings of both units after every poll. */
export function telemetrySource(robot: Robot, clock: Clock): Pick<Listeners<Telemetry>, 'add'> {
  return { add: listener => robot.followed.add(() => listener(readings(robot, clock))) };
}

const PERIOD_MS = 100;
const KEPT = 1200;

/**
 * The readings of the last two minutes, ten a second, for a page that opens. They come from ordinary polls
 * and cause no further reads.
 */
export function recentTelemetry(robot: Robot, clock: Clock, kept = KEPT): () => Buffer {
  // The readings are kept as JSON text, and all answers between two readings are one, so that many answers take little
  // time.
  const texts: string[] = [];
  let answer: Buffer | undefined;
  let dueMs = 0;
  robot.polled.add(() => {
    const nowMs = clock.nowMs();
    if (nowMs < dueMs) return;
    // Polls are not exactly periodic. If the time counted from the last reading, every second reading would come one
    // poll late.
    dueMs = Math.max(dueMs + PERIOD_MS, nowMs);
    texts.push(JSON.stringify(readings(robot, clock)));
    if (texts.length > kept) texts.shift();
    answer = undefined;
  });
  return () => {
    answer ??= Buffer.from(`[${texts.join()}]`);
    return answer;
  };
}

/** The latest readings of both units; null for a unit that is offline. If both are offline, `t` is the time now. */
function readings(robot: Robot, clock: Clock): Telemetry {
  const ofUnit = ({ name, hasCamera }: Unit): UnitTelemetry | null => {
    const { telemetry, flags } = robot.units[name];
    if (telemetry === undefined) return null;
    const { atMs, loops, pose } = telemetry;
    const target = hasCamera && { target: flags.includes('target_visible') };
    return { ...loops, ...(pose && { pose }), ...target, t: atMs / 1000 };
  };
  const times = UNIT_LIST.flatMap(({ name }) => robot.units[name].telemetry?.atMs ?? []);
  const newestMs = times.length === 0 ? clock.nowMs() : Math.max(...times);
  return { t: newestMs / 1000, ...perUnit(ofUnit) };
}
