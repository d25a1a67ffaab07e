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
  revision: count('Of the last call that was taken.'),
  phase: oneOf(PHASES),
  endsAtT: nullable(number(), 'Monotonic seconds, as `t` of telemetry; null where no time runs.'),
  lock: nullable(lock),
  lease: nullable(lease, 'Whose beat was accepted last.'),
  refereeSilent: yesNo('In auto or teleop, no beat was accepted for too long.'),
  allows,
  recorded: yesNo(
    'Whether lock and phase would outlive a power cut; a change that is being written shows as false after 0.8 s.',
  ),
};

/** The match as status shows it; nothing in it changes while nothing happens. */
export const matchStatus = named('MatchStatus', growing(members));

/** The body of GET /api/match. */
export const matchView = named(
  'Match',
  growing(
    { ...members, t: number('Now, in monotonic seconds.') },
    {
      head: {
        ...logHead,
        description: 'Of the log of events, for the desk to keep; in the answer to a beat.',
      },
    },
  ),
);

export type MatchStatus = TypeOf<typeof matchStatus>;
