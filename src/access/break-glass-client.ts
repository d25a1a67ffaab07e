import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { errnoOf } from '../core/errors.js';

/** The daemon answers a stop within 0.9 s. With this limit the command ends within 2 s, its own start included. */
const ANSWER_MS = 1300;

/** Resolves with the daemon's parsed answer. Rejects if there is no socket, or no answer in time. */
export async function askBreakGlass(path: string, asked: string): Promise<unknown> {
  const socket = connect(path);
  socket.write(`${asked}\n`);
  const late = setTimeout(() => socket.destroy(new Error('no answer')), ANSWER_MS);
  return json(socket).finally(() => clearTimeout(late));
}

/** Why the socket gave no answer. `none` is said if no robot's daemon listens there, `cure` if it hangs. */
export function whyNoAnswer(
  error: unknown,
  {
    command,
    isSimulated,
    none,
    cure = '',
  }: { command: string; isSimulated: boolean; none: string; cure?: string },
): string {
  const errno = errnoOf(error);
  if (errno === 'EACCES') return `Only root may do this: sudo trunnion ${command}`;
  if (errno !== 'ENOENT' && errno !== 'ECONNREFUSED')
    return `The daemon does not answer. ${cure}journalctl -u trunnion says more.`;
  if (!isSimulated) return `${none} For a simulated robot add --simulated.`;
  return 'No simulated robot has this state folder. npm start, or trunnion-sim, starts one; --state names another folder.';
}
