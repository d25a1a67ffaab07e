import { PHASES } from '../core/phases.js';
import { MODES } from '../core/units.js';
import { logHead } from './log.js';
import { array, count, growing, named, nullable, number, oneOf, type TypeOf, text, yesNo } from './schema.js';

const lock = named('MatchLock', growing({ by: text("Token's name or address."), reason: text() }));
const lease = named('MatchLease', growing({ holder: text(), by: text("Token's name or address.") }));

const allows = named(
  'Allowed',
  growing({
    drive: yesNo('Mode switches and excitation.'),
    laser: yesNo('Light; dark always is.'),
    tune: yesNo('Saves, restores and trials; a trial also needs a robot that is not stopped.'),
    resume: yesNo('A resume, if the robot is stopped.'),
    modes: array(oneOf(MODES), 'The modes that a unit may be switched to.'),
  }),
  'False for whatever the phase, a lock, a lost referee or a stop forbids now.',
);

const members = {
  id: nullable(text(), 'Null before the first match.'),
  revision: count('The revision of the last accepted call.'),
  phase: oneOf(PHASES),
  endsAtT: nullable(number(), 'Monotonic seconds, as `t` of telemetry; null if the phase has no end.'),
  lock: nullable(lock),
  lease: nullable(lease, 'The desk whose beat was accepted last.'),
  refereeSilent: yesNo('The phase is auto or teleop, and no beat was accepted for too long.'),
  allows,
  recorded: yesNo('Lock and phase would survive a power cut. False if writing a change takes over 0.8 s.'),
};

/** The match as status shows it. It has no current time, so that it changes only when the match does. */
export const matchStatus = named('MatchStatus', growing(members));

/** The body of GET /api/match. */
export const matchView = named(
  'Match',
  growing(
    { ...members, t: number('Now, in monotonic seconds.') },
    {
      head: {
        ...logHead,
        description: 'The head of the event log, for the desk to keep. Only in the answer to a beat.',
      },
    },
  ),
);

export type MatchStatus = TypeOf<typeof matchStatus>;
