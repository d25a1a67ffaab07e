import { UNIT_LIST } from '../core/units.js';
import * as s from './schema.js';

const value: s.Schema<string | number | boolean | null> = { type: ['string', 'number', 'boolean', 'null'] };

/** One line of the event log: a request and its outcome, or what the robot did without a request. */
export const logEvent = s.answer('Event', {
  seq: s.count('Counts up by one; a gap means that events were dropped.'),
  t: s.number('Monotonic seconds, as `t` of telemetry.'),
  at: s.text('Wall time, ISO 8601; the clock of a robot may be wrong.'),
  what: s.text('The name of the event: mode, laser, stop, resume, save, reset, offline, fault, …'),
  unit: s.optional(s.oneOf(UNIT_LIST.map(unit => unit.name))),
  who: s.optional(s.text("The caller: a token's name or an address. Absent if nobody asked.")),
  outcome: s.optional(s.text("The outcome of a request: `done`, or the problem's code.")),
  detail: s.optional(s.record(value, 'Values before and after, loop, amplitude, revision, reason.')),
});

export type LogEvent = s.TypeOf<typeof logEvent>;

/** The body of GET /api/log. */
export const logPage = s.growing({
  boot: s.text('Names this run of the daemon. Each run starts `t` again.'),
  events: s.array(logEvent, 'Oldest first.'),
  dropped: s.count('The number of later events than `after` that are no longer kept.'),
});

/** The body of GET /api/log/head. */
export const logHead = s.answer('LogHead', {
  seq: s.count('The number of the newest line on the disk.'),
  hash: s.text('SHA-256 of that line. A log that is cut or rewritten later has no such line.'),
});

export type LogHead = s.TypeOf<typeof logHead>;

export type LogPage = s.TypeOf<typeof logPage>;

/** An event to be recorded. The event log adds number and time. */
export interface NewEvent extends Omit<LogEvent, 'seq' | 't' | 'at'> {
  /** The error behind the event. Only the log line contains it. */
  readonly error?: unknown;
}
