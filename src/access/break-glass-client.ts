import { connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { isObject } from '../core/json.js';

/** The daemon answers a stop within 0.9 s. With this limit the command ends within 2 s, its own start included. */
const ANSWER_MS = 1300;

/** Resolves with the daemon's answer. Rejects if there is no socket, or no answer in time. */
export async function askBreakGlass(path: string, asked: string): Promise<Readonly<Record<string, unknown>>> {
  const socket = connect(path);
  socket.write(`${asked}\n`);
  const late = setTimeout(() => socket.destroy(new Error('no answer')), ANSWER_MS);
  const answer: unknown = await json(socket).finally(() => clearTimeout(late));
  if (!isObject(answer)) throw new TypeError('not an answer');
  return answer;
}
