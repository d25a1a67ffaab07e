import { PHASES } from '../core/phases.js';
import { MODES } from '../core/units.js';
import { logHead } from './log.js';
import * as s from './schema.js';

const lock = s.answer('MatchLock', {
  id: s.text('Chosen by the caller, or made by the robot.'),
  by: s.text("Token's name or address."),
  reason: s.text(),
});
const lease = s.answer('MatchLease', {
  holder: s.text(),
  by: s.text("Token's name or address."),
  expired: s.optional(s.yesNo('Nobody has the lease any more: it ran out, or its token is gone.')),
});

const allows = s.answer(
  'Allowed',
  {
    drive: s.yesNo('Mode switches and excitation.'),
    laser: s.yesNo('Laser on. Laser off is always allowed.'),
    tune: s.yesNo('Saves, restores and trials; a trial also needs a robot that is not stopped.'),
    resume: s.yesNo('A resume, if the robot is stopped.'),
    modes: s.array(s.oneOf(MODES), 'The modes that a unit may be switched to.'),
  },
  'What the phase, a lock, a silent referee and a stop allow now.',
);

const members = {
  id: s.nullable(s.text(), 'Null before the first match.'),
  revision: s.count('The revision of the last accepted call.'),
  phase: s.oneOf(PHASES),
  endsAtT: s.nullable(s.number(), 'Monotonic seconds, as `t` of telemetry; null if the phase has no end.'),
  lock: s.nullable(lock),
  lease: s.nullable(lease, 'The desk whose beat was accepted last.'),
  refereeSilent: s.yesNo('The phase is auto or teleop, and no beat was accepted for too long.'),
  allows,
  recorded: s.yesNo('Lock and phase would survive a power cut. False if writing a change takes over 0.8 s.'),
};

/** The match in status. It does not contain the current time, so it changes only when the match changes. */
export const matchStatus = s.named('MatchStatus', s.growing(members));

/** The body of GET /api/match. */
export const matchView = s.answer('Match', {
  ...members,
  t: s.number('Now, in monotonic seconds.'),
  beatAgeS: s.nullable(s.number(), 'Seconds since the last accepted beat of a desk; null before the first.'),
  head: s.optional({
    ...logHead,
    description: 'The head of the event log, for the desk to keep. Only in the answer to a beat.',
  }),
});

export type MatchStatus = s.TypeOf<typeof matchStatus>;
