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

/** `trunnion stop`, `unlock` and `match end`, on the board, without a token. */
export async function breakGlassCommand(act: BreakGlassAct, runtimeFolder: string): Promise<Said> {
  try {
    const { done, code } = answerOf(await askBreakGlass(breakGlassPath(runtimeFolder), act));
    if (done) return { text: DONE[act], exitCode: 0 };
    if (act === 'unlock') return failed(`Unlocked, but not on the disk (${code}): a restart locks again.`);
    if (act === 'match end') return failed(`The match has ended, but not all of it is confirmed (${code}).`);
    return failed(`The stop stands, but it is not confirmed (${code}). Ask again, or cut the power.`);
  } catch (error) {
    if (errnoOf(error) === 'EACCES') return failed(`Only root may do this: sudo trunnion ${act}`);
    return failed('The daemon does not answer. Cut the power; systemctl status trunnion says more.');
  }
}

function failed(text: string): Said {
  return { text, exitCode: 1 };
}

/** Throws where `said` is no answer to an act. */
function answerOf(said: unknown): BreakGlassAnswer {
  if (!isObject(said) || !('done' in said)) throw new Error('not an answer');
  const { done, code } = said;
  return { done: done === true, code: typeof code === 'string' ? code : undefined };
}
