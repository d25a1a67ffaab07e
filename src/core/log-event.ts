import type { UnitName } from './units.js';

/** One thing that happened: what somebody asked and what came of it, or what the robot did by itself. */
export interface LogEvent {
  /** Counts up by one; a gap means that events were dropped. */
  readonly seq: number;
  /** Monotonic seconds, as `t` of telemetry. */
  readonly t: number;
  /** Wall time, ISO 8601; the clock of a robot may be wrong. */
  readonly at: string;
  /** What was asked or what happened, in one word: mode, laser, stop, resume, save, reset, offline, fault, … */
  readonly what: string;
  readonly unit?: UnitName;
  /** Who asked: a token's name, else an address. Absent where the robot did it by itself. */
  readonly who?: string;
  /** Of what was asked: `done`, or the problem's code. */
  readonly outcome?: string;
  /** For people and programs: values before and after, loop, amplitude, revision, reason. */
  readonly detail?: Readonly<Record<string, string | number | boolean | null>>;
}
