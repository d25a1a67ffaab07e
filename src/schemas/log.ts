import { UNIT_LIST } from '../core/units.js';
import {
  array,
  count,
  growing,
  named,
  number,
  oneOf,
  record,
  type Schema,
  type TypeOf,
  text,
} from './schema.js';

const value: Schema<string | number | boolean | null> = { type: ['string', 'number', 'boolean', 'null'] };

/** One line of the event log: a request and its outcome, or what the robot did without a request. */
export const logEvent = named(
  'Event',
  growing(
    {
      seq: count('Counts up by one; a gap means that events were dropped.'),
      t: number('Monotonic seconds, as `t` of telemetry.'),
      at: text('Wall time, ISO 8601; the clock of a robot may be wrong.'),
      what: text('The name of the event: mode, laser, stop, resume, save, reset, offline, fault, …'),
    },
    {
      unit: oneOf(UNIT_LIST.map(unit => unit.name)),
      who: text("The caller: a token's name or an address. Absent if nobody asked."),
      outcome: text("The outcome of a request: `done`, or the problem's code."),
      detail: record(value, 'Values before and after, loop, amplitude, revision, reason.'),
    },
  ),
);

export type LogEvent = TypeOf<typeof logEvent>;

/** The body of GET /api/log. */
export const logPage = growing({
  boot: text('Names this run of the daemon. Each run starts `t` again.'),
  events: array(logEvent, 'Oldest first.'),
  dropped: count('The number of later events than `after` that are no longer kept.'),
});

/** The body of GET /api/log/head. */
export const logHead = named(
  'LogHead',
  growing({
    seq: count('The number of the newest line on the disk.'),
    hash: text('SHA-256 of that line. A log that is cut or rewritten later has no such line.'),
  }),
);

export type LogHead = TypeOf<typeof logHead>;

export type LogPage = TypeOf<typeof logPage>;

/** An event to be recorded. The event log gives it number and time. */
export interface NewEvent extends Omit<LogEvent, 'seq' | 't' | 'at'> {
  /** What failed. Only the log line has it. */
  readonly error?: unknown;
}

/** The older name, which the match still uses. */
export type Happening = NewEvent;
