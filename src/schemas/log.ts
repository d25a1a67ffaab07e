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

/** One thing that happened: what somebody asked and what came of it, or what the robot did by itself. */
export const logEvent = named(
  'Event',
  growing(
    {
      seq: count('Counts up by one; a gap means that events were dropped.'),
      t: number('Monotonic seconds, as `t` of telemetry.'),
      at: text('Wall time, ISO 8601; the clock of a robot may be wrong.'),
      what: text(
        'What was asked or what happened, in one word: mode, laser, stop, resume, save, reset, offline, fault, …',
      ),
    },
    {
      unit: oneOf(UNIT_LIST.map(unit => unit.name)),
      who: text("Who asked: a token's name, else an address. Absent where the robot did it by itself."),
      outcome: text("Of what was asked: `done`, or the problem's code."),
      detail: record(
        value,
        'For people and programs: values before and after, loop, amplitude, revision, reason.',
      ),
    },
  ),
);

export type LogEvent = TypeOf<typeof logEvent>;

/** The body of GET /api/log. */
export const logPage = growing({
  boot: text('Of this run of the daemon: `t` starts anew with it.'),
  events: array(logEvent, 'Oldest first.'),
  dropped: count('Events after the one asked for that are not kept any more.'),
});

/** The body of GET /api/log/head. */
export const logHead = named(
  'LogHead',
  growing({
    seq: count('Of the newest line that is on the medium.'),
    hash: text('SHA-256 of that line. A log that was cut or written anew later has no such line.'),
  }),
);

export type LogHead = TypeOf<typeof logHead>;

export type LogPage = TypeOf<typeof logPage>;

/** Something to be recorded; the log of events gives it number and time. */
export type Happening = Omit<LogEvent, 'seq' | 't' | 'at'>;
