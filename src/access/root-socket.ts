import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { json } from 'node:stream/consumers';
import { isObject } from '../core/json.js';
import { sha256 } from '../core/sha256.js';
import { BOARD_PATH } from './board.js';

/** The service's runtime folder. */
export const RUNTIME_FOLDER = '/run/trunnion';

/** The daemon's socket for root. It serves the HTTP interface to root on the board, without a token. */
export function rootSocket(runtimeFolder: string): string {
  return join(runtimeFolder, 'root.sock');
}

/**
 * The socket of a simulated robot with this state folder. The socket is not in the folder: the folder's disk may
 * hang, and a path in the folder may be too long for a socket.
 */
export function simulatorSocket(stateFolder: string): string {
  return join(tmpdir(), `trunnion-sim-${sha256(resolve(stateFolder)).slice(0, 16)}`);
}

/** The daemon answers a stop within 0.9 s. With this limit a command ends within 2 s, its own start included. */
const ANSWER_MS = 1300;

export interface RootAnswer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

/** Asks the daemon of this board. Rejects if there is no socket, or no answer in time. */
export function askAsRoot(socketPath: string, method: 'GET' | 'POST', path: string): Promise<RootAnswer> {
  return new Promise((resolve, reject) => {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const asked = request({ socketPath, method, path, signal, agent: false }, response => {
      const body = json(response).then(answer => {
        if (!isObject(answer)) throw new TypeError('not an answer');
        return { status: response.statusCode ?? 0, body: answer };
      });
      body.then(resolve, reject);
    });
    asked.on('error', reject).end();
  });
}

/** The status of a daemon, with the member `board`. Undefined if none answers. */
export async function boardStatusAt(socketPath: string): Promise<unknown> {
  const answer = await askAsRoot(socketPath, 'GET', BOARD_PATH).catch(() => undefined);
  return answer?.body;
}
