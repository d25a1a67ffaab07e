import { boardOf } from '../access/board.js';
import { BREAK_GLASS_LOOK } from '../access/break-glass.js';
import { errnoOf } from '../core/errors.js';
import { isObject } from '../core/json.js';
import { isStatus } from '../schemas/status.js';
import { Failure, failed, type Said } from './command.js';
import { askDaemon, type Place } from './place.js';
import { isSafe, statusText, wrongIn } from './status-text.js';

const ANSWER_MS = 2000;

interface Remote {
  readonly url: string;
  readonly token: string | undefined;
}

/**
 * `trunnion status`: asks over HTTP, or without `remote` at the socket for root. The exit code is 0 if nothing is
 * wrong. It is 1 if something is wrong, or if there is no answer.
 */
export async function statusCommand(place: Place, remote: Remote | undefined): Promise<Said> {
  const answer = await (remote === undefined ? askDaemon(place, BREAK_GLASS_LOOK) : overHttp(remote));
  if (!isStatus(answer)) return failed(detailOf(answer));
  const wrong = wrongIn(answer);
  return {
    text: statusText(answer, boardOf(answer)),
    exitCode: wrong.length === 0 ? 0 : 1,
    json: { safe: isSafe(answer), wrong, ...answer },
    isReport: true,
  };
}

async function overHttp({ url, token }: Remote): Promise<unknown> {
  try {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer: unknown = await (await fetch(new URL('/api/status', url), { headers, signal })).json();
    return answer;
  } catch (error) {
    const why = error instanceof Error ? errnoOf(error.cause) : undefined;
    throw new Failure(`No daemon answers at ${url}${why === undefined ? '' : ` (${why})`}.`);
  }
}

/** The words of a refusal. */
function detailOf(answer: unknown): string {
  if (isObject(answer) && answer.code === 'token-required')
    return 'This robot needs a token: add --token TOKEN, or set TRUNNION_TOKEN.';
  const detail = isObject(answer) ? answer.detail : undefined;
  return typeof detail === 'string' ? detail : 'What answers there is no daemon of this version.';
}
