import { connect } from 'node:net';
import { errnoOf } from '../core/errors.js';
import { type BreakGlassAct, type BreakGlassAnswer, breakGlassPath } from './break-glass.js';
import type { Said } from './token-command.js';

/** A stop is confirmed or given up within 0.8 s; whoever asks hears within 2 s in any case. */
const ANSWER_MS = 1800;

const DONE: Readonly<Record<BreakGlassAct, string>> = {
  stop: 'Stopped: the laser is dark, and torque is off.',
  unlock: 'Unlocked. The robot stays stopped until someone resumes.',
};

/** `trunnion stop` and `trunnion unlock`, on the board, without a token. */
export async function breakGlassCommand(act: BreakGlassAct, runtimeFolder: string): Promise<Said> {
  try {
    const { done, code } = await ask(act, breakGlassPath(runtimeFolder));
    if (done) return { text: DONE[act], exitCode: 0 };
    if (act === 'unlock') return failed(`Unlocked, but not on the disk (${code}): a restart locks again.`);
    return failed(`The stop stands, but it is not confirmed (${code}). Ask again, or cut the power.`);
  } catch (error) {
    if (errnoOf(error) === 'EACCES') return failed(`Only root may do this: sudo trunnion ${act}`);
    return failed('The daemon does not answer. Cut the power; systemctl status trunnion says more.');
  }
}

function failed(text: string): Said {
  return { text, exitCode: 1 };
}

function ask(act: BreakGlassAct, path: string): Promise<BreakGlassAnswer> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(path, () => socket.write(`${act}\n`));
    const late = setTimeout(() => socket.destroy(new Error('no answer')), ANSWER_MS);
    socket.setEncoding('utf8');
    socket.on('data', part => {
      text += String(part);
    });
    socket.on('error', reject);
    socket.on('close', () => {
      clearTimeout(late);
      try {
        resolve(JSON.parse(text));
      } catch (error) {
        reject(error);
      }
    });
  });
}
