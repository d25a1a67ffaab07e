import { boardOf } from '../access/board.js';
import { BREAK_GLASS_LOOK } from '../access/break-glass.js';
import { askBreakGlass, whyNoAnswer } from '../access/break-glass-client.js';
import { errnoOf } from '../core/errors.js';
import { isObject } from '../core/json.js';
import { type Status, status as schema } from '../schemas/status.js';
import type { Place } from './place.js';
import { failed, type Said } from './said.js';
import { isSafe, statusText, wrongIn } from './status-text.js';

const ANSWER_MS = 2000;

interface Remote {
  readonly url: string;
  readonly token: string | undefined;
}

/**
 * `trunnion status`, over HTTP or, without `remote`, at the socket for root. The exit code is 0 if nothing is wrong, and 1 if
 * something is, or nobody answers.
 */
export async function statusCommand(place: Place, remote: Remote | undefined): Promise<Said> {
  const answer = await (remote === undefined ? atTheSocket(place) : overHttp(remote));
  if (typeof answer === 'string') return failed(answer);
  if (!isStatus(answer)) return failed(detailOf(answer));
  const wrong = wrongIn(answer);
  return {
    text: statusText(answer, boardOf(answer)),
    exitCode: wrong.length === 0 ? 0 : 1,
    json: { safe: isSafe(answer), wrong, ...answer },
    isReport: true,
  };
}

/** Resolves with the answer, or with a sentence that says why there is none. */
async function atTheSocket(place: Place): Promise<unknown> {
  try {
    return await askBreakGlass(place.socket, BREAK_GLASS_LOOK);
  } catch (error) {
    return whyNone(error, place, 'status');
  }
}

/** Why the socket for root gave this command no answer. */
export function whyNone(error: unknown, { isSimulated }: Place, command: string): string {
  const none = "No robot's daemon runs here (systemctl status trunnion).";
  return whyNoAnswer(error, { command, isSimulated, none });
}

/** As `atTheSocket`. */
async function overHttp({ url, token }: Remote): Promise<unknown> {
  try {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer: unknown = await (await fetch(new URL('/api/status', url), { headers, signal })).json();
    return answer;
  } catch (error) {
    const why = error instanceof Error ? errnoOf(error.cause) : undefined;
    return `No daemon answers at ${url}${why === undefined ? '' : ` (${why})`}.`;
  }
}

export function isStatus(answer: unknown): answer is Status {
  const { required } = schema;
  return isObject(answer) && Array.isArray(required) && required.every(name => String(name) in answer);
}

/** The words of a refusal. */
function detailOf(answer: unknown): string {
  if (isObject(answer) && answer.code === 'token-required')
    return 'This robot needs a token: add --token TOKEN, or set TRUNNION_TOKEN.';
  const detail = isObject(answer) ? answer.detail : undefined;
  return typeof detail === 'string' ? detail : 'What answers there is no daemon of this version.';
}
