import type { BreakGlassAct, BreakGlassAnswer } from '../access/break-glass.js';
import { askBreakGlass, whyNoAnswer } from '../access/break-glass-client.js';
import { isObject } from '../core/json.js';
import { failed, type Said } from './said.js';

export const SIMULATED = 'The robot is simulated.';

const DONE: Readonly<Record<BreakGlassAct, string>> = {
  stop: 'Stopped: the laser is dark, and torque is off.',
  unlock: 'Unlocked. A stopped robot stays stopped until someone resumes.',
  'match end': 'The match has ended. A referee sets the next phase: on the page, or with POST /api/match.',
};

/** The output if no daemon listens on this board. A simulator may be running. */
const NO_DAEMON: Readonly<Record<BreakGlassAct, string>> = {
  stop: "Nothing was stopped: no robot's daemon runs here (systemctl status trunnion). If a robot moves or its laser is lit, cut its power.",
  unlock: "Nothing was unlocked: no robot's daemon runs here. sudo systemctl start trunnion starts it.",
  'match end': "No match was ended: no robot's daemon runs here. sudo systemctl start trunnion starts it.",
};

/** The output if the daemon obeyed, but could not confirm everything. */
const UNCONFIRMED: Readonly<Record<BreakGlassAct, (code: string | undefined) => string>> = {
  stop: code => `The robot is stopped, but that is not confirmed (${code}). Ask again, or cut the power.`,
  unlock: code => `Unlocked, but not on the disk (${code}): a restart locks again.`,
  'match end': code => `The match has ended, but not all of it is confirmed (${code}).`,
};

/** The robot whose daemon is asked. */
interface Asked {
  readonly socket: string;
  readonly isSimulated: boolean;
}

/** `trunnion stop`, `unlock` and `match end`, on the board, without a token. */
export async function breakGlassCommand(act: BreakGlassAct, { socket, isSimulated }: Asked): Promise<Said> {
  try {
    const { done, code, simulated } = answerOf(await askBreakGlass(socket, act));
    const text = `${done ? DONE[act] : UNCONFIRMED[act](code)}${simulated ? ` ${SIMULATED}` : ''}`;
    return { text, exitCode: done ? 0 : 1, json: { ok: done, code, simulated, detail: text } };
  } catch (error) {
    const cure = act === 'stop' ? 'Cut the power. ' : 'Restart it: sudo systemctl restart trunnion. ';
    return failed(whyNoAnswer(error, { command: act, isSimulated, none: NO_DAEMON[act], cure }));
  }
}

/** Throws if `said` is not an answer to an act. */
function answerOf(said: unknown): BreakGlassAnswer {
  if (!isObject(said) || !('done' in said)) throw new Error('not an answer');
  const { done, code, simulated } = said;
  return {
    done: done === true,
    code: typeof code === 'string' ? code : undefined,
    simulated: simulated === true,
  };
}
