import { errnoOf } from '../core/errors.js';
import { isObject } from '../core/json.js';
import type { Said } from '../core/said.js';
import { type BreakGlassAct, type BreakGlassAnswer, breakGlassPath } from './break-glass.js';
import { askBreakGlass } from './break-glass-client.js';

const DONE: Readonly<Record<BreakGlassAct, string>> = {
  stop: 'Stopped: the laser is dark, and torque is off.',
  unlock: 'Unlocked. The robot stays stopped until someone resumes.',
  'match end': 'The match has ended. The phase none lets the robot drive again.',
};

/** The output if no daemon listens on this board. A simulator may be running. */
const NO_DAEMON: Readonly<Record<BreakGlassAct, string>> = {
  stop: "Nothing was stopped: no robot's daemon runs here (systemctl status trunnion). If a robot moves or its laser is lit, cut its power. Stop a simulator on its page.",
  unlock:
    "Nothing was unlocked: no robot's daemon runs here. sudo systemctl start trunnion starts it. Unlock a simulator over HTTP.",
  'match end':
    "No match was ended: no robot's daemon runs here. sudo systemctl start trunnion starts it. End a match of a simulator over HTTP.",
};

/** The output if the daemon obeyed, but could not confirm everything. */
const UNCONFIRMED: Readonly<Record<BreakGlassAct, (code: string | undefined) => string>> = {
  stop: code => `The robot is stopped, but that is not confirmed (${code}). Ask again, or cut the power.`,
  unlock: code => `Unlocked, but not on the disk (${code}): a restart locks again.`,
  'match end': code => `The match has ended, but not all of it is confirmed (${code}).`,
};

/** `trunnion stop`, `unlock` and `match end`, on the board, without a token. */
export async function breakGlassCommand(act: BreakGlassAct, runtimeFolder: string): Promise<Said> {
  try {
    const { done, code } = answerOf(await askBreakGlass(breakGlassPath(runtimeFolder), act));
    return done ? { text: DONE[act], exitCode: 0 } : failed(UNCONFIRMED[act](code));
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === 'EACCES') return failed(`Only root may do this: sudo trunnion ${act}`);
    if (errno === 'ENOENT' || errno === 'ECONNREFUSED') return failed(NO_DAEMON[act]);
    const cure = act === 'stop' ? 'Cut the power.' : 'Restart it: sudo systemctl restart trunnion.';
    return failed(`The daemon does not answer. ${cure} journalctl -u trunnion says more.`);
  }
}

function failed(text: string): Said {
  return { text, exitCode: 1 };
}

/** Throws if `said` is not an answer to an act. */
function answerOf(said: unknown): BreakGlassAnswer {
  if (!isObject(said) || !('done' in said)) throw new Error('not an answer');
  const { done, code } = said;
  return { done: done === true, code: typeof code === 'string' ? code : undefined };
}
