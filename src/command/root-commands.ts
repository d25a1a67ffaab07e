import type { Said } from './command.js';
import { askDaemon, type Place } from './place.js';

export const SIMULATED = 'The robot is simulated.';

interface Words {
  /** The path of the call. */
  readonly path: string;
  /** The line in the help. */
  readonly about: string;
  readonly done: string;
  /** The text if the daemon acted, but not every effect is confirmed. CODE is replaced by the error's code. */
  readonly unconfirmed: string;
  /** The text if no daemon listens on this board. A simulator may be running. */
  readonly noDaemon: string;
  /** What to do if the daemon hangs. */
  readonly cure: string;
}

const RESTART = 'Restart it: sudo systemctl restart trunnion. ';

export const ACTS = {
  stop: {
    path: '/api/stop',
    about: 'Stop the robot, on the board and without a token',
    done: 'Stopped: the laser is dark, and torque is off.',
    unconfirmed:
      'The robot is stopped, but this is not confirmed (CODE). Repeat the command, or cut the power.',
    noDaemon:
      "Nothing was stopped: no robot's daemon runs here (systemctl status trunnion). If a robot moves or its laser is lit, cut its power.",
    cure: 'Cut the power. ',
  },
  unlock: {
    path: '/api/match/unlock',
    about: 'Remove the match lock, on the board and without a token',
    done: 'Unlocked. A stopped robot stays stopped until someone resumes.',
    unconfirmed:
      'Unlocked, but the disk does not have this yet (CODE): after a restart the robot is locked again.',
    noDaemon: "Nothing was unlocked: no robot's daemon runs here. sudo systemctl start trunnion starts it.",
    cure: RESTART,
  },
  'match end': {
    path: '/api/match/end',
    about: 'End the match, on the board and without a token',
    done: 'The match has ended. A referee sets the next phase: on the page, or with POST /api/match.',
    unconfirmed: 'The match has ended, but not all of it is confirmed (CODE).',
    noDaemon: "No match was ended: no robot's daemon runs here. sudo systemctl start trunnion starts it.",
    cure: RESTART,
  },
} as const satisfies Readonly<Record<string, Words>>;

export type RootAct = keyof typeof ACTS;

/** `trunnion stop`, `unlock` and `match end`, on the board, without a token. */
export async function rootCommand(act: RootAct, place: Place): Promise<Said> {
  const words = ACTS[act];
  const { status, body } = await askDaemon(place, 'POST', words.path, { command: act, ...words });
  const ok = status === 200;
  const text = ok ? words.done : words.unconfirmed.replace('CODE', String(body.code));
  const simulated = place.isSimulated;
  const detail = simulated ? `${text} ${SIMULATED}` : text;
  return { text: detail, exitCode: ok ? 0 : 1, json: { ok, code: body.code, simulated, detail } };
}
