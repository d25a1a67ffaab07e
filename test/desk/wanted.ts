import type { DeskMatch, Wanted } from '../../src/desk/state.js';

/** What a new desk wants. */
export const WANTED: Wanted = {
  holder: 'desk-1',
  former: [],
  permits: true,
  lock: null,
  match: null,
  added: [],
  robots: {},
};

/** A match in teleop. */
export const PLAYING: DeskMatch = {
  id: 'final',
  robots: ['Red 1'],
  autoS: 15,
  teleopS: 105,
  phase: 'teleop',
  sinceMs: 300,
  untilMs: 1300,
  endsAtMs: 60_300,
  leftS: null,
  interrupted: null,
  isPlanned: false,
  why: null,
  without: [],
  record: 'final-1',
};
