import type { LogEvent } from './log-event.js';

/** Something to be recorded; the log of events gives it number and time. */
export type Happening = Omit<LogEvent, 'seq' | 't' | 'at'>;
