import { once } from 'node:events';
import { chmod, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import type { Logger } from 'pino';
import { asRobotError, describeError } from '../core/errors.js';
import { isObject } from '../core/json.js';
import { sha256 } from '../core/sha256.js';
import type { EventLog } from '../events/event-log.js';

export const BREAK_GLASS_ACTS = ['stop', 'unlock', 'match end'] as const;
export type BreakGlassAct = (typeof BREAK_GLASS_ACTS)[number];

/** The line that asks for the body of GET /api/status, with `board`. Root needs no token for it here. */
export const BREAK_GLASS_LOOK = 'status';
const ASKED = [...BREAK_GLASS_ACTS, BREAK_GLASS_LOOK] as const;
type Asked = (typeof ASKED)[number];

/** A connection must send its line within this time. */
const ASK_MS = 1000;
const LONGEST = 32;

/** The service's runtime folder. */
export const RUNTIME_FOLDER = '/run/trunnion';

export function breakGlassPath(runtimeFolder: string): string {
  return join(runtimeFolder, 'break-glass');
}

/**
 * The socket of a simulated robot with this state folder. The socket is not in the folder: the folder's disk may
 * hang, and a path in the folder may be too long for a socket.
 */
export function simulatorSocket(stateFolder: string): string {
  return join(tmpdir(), `trunnion-sim-${sha256(resolve(stateFolder)).slice(0, 16)}`);
}

/**
 * Opens a socket where root on the board can stop, unlock and end the match without a token. If it cannot be opened, the
 * daemon runs without it.
 */
export async function openBreakGlass(options: {
  path: string;
  acts: Readonly<Record<BreakGlassAct, () => Promise<void>>>;
  simulated: boolean;
  status: () => object;
  eventLog: EventLog;
  log: Logger;
}): Promise<{ close(): Promise<void> }> {
  const { path, simulated, acts, status, eventLog, log } = options;
  const answerTo = async (asked: Asked): Promise<object> => {
    if (asked === BREAK_GLASS_LOOK) return status();
    const code = await acts[asked]().then(
      () => undefined,
      (error: unknown) => asRobotError(error).code,
    );
    const what = asked === 'match end' ? 'phase' : asked;
    eventLog.record({ what, who: 'break glass', outcome: code ?? 'done' });
    // `code` says why the act failed or was not confirmed.
    return { done: code === undefined, code, simulated };
  };
  const server = createServer({ allowHalfOpen: true }, socket => {
    hear(socket)
      .then(answerTo)
      .then(answer => socket.end(`${JSON.stringify(answer)}\n`, () => socket.destroy()))
      .catch(() => socket.destroy());
  });
  try {
    await rm(path, { force: true });
    await once(server.listen(path), 'listening');
    // An error of the server loses one connection only.
    server.on('error', error => log.warn(describeError(error), 'connection not accepted'));
    await chmod(path, 0o600);
  } catch (error) {
    const what = 'no break glass: trunnion stop and trunnion unlock do not reach this daemon';
    log.error(describeError(error), what);
  }
  return { close: () => new Promise(resolve => server.close(() => resolve())) };
}

/** Resolves with the connection's first line. Rejects if the line is unknown or late. */
function hear(socket: Socket): Promise<Asked> {
  return new Promise((resolve, reject) => {
    let text = '';
    socket.setEncoding('utf8');
    socket.setTimeout(ASK_MS, () => reject(new Error('nothing asked')));
    socket.on('error', reject);
    socket.on('data', part => {
      text += String(part);
      const asked = ASKED.find(known => text === `${known}\n`);
      if (asked !== undefined) {
        socket.setTimeout(0);
        resolve(asked);
      } else if (text.includes('\n') || text.length > LONGEST) reject(new Error('not understood'));
    });
  });
}

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
