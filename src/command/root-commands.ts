import type { RootAnswer } from '../access/root-socket.js';
import { Failure, type Said } from './command.js';
import { askDaemon, type Place, refusalOf } from './place.js';

export const SIMULATED = 'The robot is simulated.';

export interface Words {
  /** The path of the call. */
  readonly path: string;
  /** The line in the help. */
  readonly about: string;
  readonly done: string;
  /** Whether the body of a good answer says so. Another server at a wrong address may answer 200 too. */
  readonly isDone: (body: RootAnswer['body']) => boolean;
  /** The text if the daemon acted, but not every effect is confirmed. CODE is replaced by the error's code. */
  readonly unconfirmed?: string;
  /** What did not happen if no daemon answers. A simulator may be running. */
  readonly undone: string;
  /** What to do if the daemon hangs. */
  readonly cure: string;
  /** Only root on the board may do it: the network has no such call. */
  readonly isOfBoard?: true;
}

const RESTART = 'Restart it: sudo systemctl restart trunnion. ';

export const ACTS = {
  stop: {
    path: '/api/stop',
    about: 'Stop the robot',
    isDone: ({ stopped }) => stopped === true,
    done: 'Stopped: torque is off, and the pin of the laser, if it has one, is dark.',
    unconfirmed:
      'The robot is stopped, but this is not confirmed (CODE). Repeat the command, or cut the power.',
    undone: 'Nothing was stopped. If a robot moves or its laser is lit, cut its power. ',
    cure: 'Cut the power. ',
  },
  resume: {
    path: '/api/resume',
    about: 'End a stop: the units are in manual then',
    isDone: ({ stopped }) => stopped === false,
    done: 'Resumed: the stop has ended. Each unit is in manual, or enters it when it is online again.',
    undone: 'Nothing was resumed. ',
    cure: RESTART,
  },
  unlock: {
    path: '/api/match/unlock',
    about: 'Remove the match lock',
    isDone: ({ lock }) => lock === null,
    done: 'Unlocked. A stopped robot stays stopped until someone resumes.',
    unconfirmed:
      'Unlocked, but the disk does not have this yet (CODE): after a restart the robot may be locked again.',
    undone: 'Nothing was unlocked. ',
    cure: RESTART,
  },
  'match end': {
    path: '/api/match/end',
    about: 'End the match',
    isDone: ({ phase }) => phase === 'ended',
    done: 'The match has ended. trunnion match clear leaves it; a referee may begin the next one.',
    unconfirmed: 'The match has ended, but not all of it is confirmed (CODE).',
    undone: 'No match was ended. ',
    cure: RESTART,
    isOfBoard: true,
  },
  'match clear': {
    path: '/api/match/clear',
    about: 'Leave a match that is over: the phase is none then',
    isDone: ({ phase }) => phase === 'none',
    done: 'There is no match now. A stopped robot stays stopped until someone resumes, and a lock stays.',
    unconfirmed: 'There is no match now, but not all of this is confirmed (CODE).',
    undone: 'No match was cleared. ',
    cure: RESTART,
    isOfBoard: true,
  },
} as const satisfies Readonly<Record<string, Words>>;

export type RootAct = keyof typeof ACTS;

/** `trunnion stop`, `resume`, `unlock`, `match end` and `match clear`: on the board without a token, or over HTTP. */
export async function rootCommand(act: RootAct, place: Place): Promise<Said> {
  const words: Words = ACTS[act];
  const answer = await askDaemon(place, 'POST', words.path, { command: act, ...words });
  const { status, body } = answer;
  const ok = status === 200;
  if (ok ? !words.isDone(body) : typeof body.code !== 'string')
    throw new Failure(`${words.undone}What answers there is no daemon of this version.`, 4);
  const isRefused = !ok && (status < 500 || words.unconfirmed === undefined);
  if (isRefused) throw refusalOf(answer, act === 'stop' ? words.undone : '');
  const text = ok ? words.done : (words.unconfirmed ?? '').replace('CODE', String(body.code));
  // Over HTTP the answer does not say it.
  const simulated = place.remote === undefined ? place.isSimulated : undefined;
  const detail = simulated ? `${text} ${SIMULATED}` : text;
  return { text: detail, exitCode: ok ? 0 : 1, json: { ok, code: body.code, simulated, detail } };
}
