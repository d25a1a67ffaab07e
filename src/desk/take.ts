import { sha256 } from '../core/sha256.js';
import { NOTHING_BEFORE, parseLine, wholeLines } from '../events/log-line.js';
import { type RobotMatch, read } from './answers.js';
import { isLocked } from './judge.js';
import {
  type Ask,
  changeWish,
  type DeskState,
  isOurs,
  lockWanted,
  type Seen,
  seenOf,
  wishOf,
} from './state.js';

/** What became of a request: an answer, or the reason for which there is none. */
export type Outcome =
  | { readonly status: number; readonly body: unknown }
  | { readonly failure: string; readonly isMoved?: boolean };

const BAD_ANSWER = 'Its answer is not one of a robot: check its address.';
/** A robot that has restarted shows a shorter time since its start. */
const RESTART_S = 1;

/** Takes in what became of a request. Whatever a robot answers, this does not throw. */
export function take(state: DeskState, ask: Ask, outcome: Outcome, nowMs: number): void {
  const seen = seenOf(state, ask.robot);
  seen.waiting.set(ask.kind, Math.max(0, (seen.waiting.get(ask.kind) ?? 0) - 1));
  if ('failure' in outcome) {
    if (ask.kind === 'lock') seen.lockProblem = outcome.failure;
    seen.failure = outcome.failure;
    if (outcome.isMoved) seen.isChecked = false;
    return;
  }
  seen.answeredMs = nowMs;
  try {
    if (ask.kind === 'lines') takeLines(state, seen, ask, outcome);
    else if (outcome.status === 200) taken(state, seen, ask, outcome.body, nowMs);
    else refused(seen, ask, outcome.status, outcome.body);
  } catch {
    seen.failure = BAD_ANSWER;
  }
}

function taken(state: DeskState, seen: Seen, ask: Ask, body: unknown, nowMs: number): void {
  const { kind, robot, sentMs } = ask;
  if (kind === 'stop') return;
  if (kind === 'health') {
    checked(state, seen, robot, read.health(body).id);
    if (seen.isChecked) seen.checkedMs = nowMs;
    return;
  }
  if (kind === 'head') {
    if (wishOf(state.wanted, robot).head === null) changeWish(state, robot, { head: read.head(body) });
    return;
  }
  if (kind === 'status') {
    const status = read.status(body);
    if (sentMs < seen.statusMs) return;
    const isRestarted = status.uptimeS + RESTART_S < (seen.status?.uptimeS ?? 0);
    if (isRestarted) seen.time = undefined;
    // A replaced robot may answer at the same address without a pause.
    if (status.id !== undefined && status.id !== seen.shownId) seen.isChecked = false;
    if (seen.refusal?.code !== 'not-allowed') seen.refusal = undefined;
    seen.failure = undefined;
    const lock = lockWanted(state.wanted, robot);
    // A later status shows no lock on a robot that had it.
    const hadOurs = sentMs > (seen.locked?.sentMs ?? 0) && isOurs(state.wanted, seen.match?.lock?.id);
    if (lock !== null && hadOurs && status.match.lock === null && isLocked(state, robot))
      seen.unlockedByOthers = lock.id;
    seen.status = status;
    seen.statusMs = sentMs;
    seen.roundTripMs = nowMs - sentMs;
    matchSeen(seen, status.match, sentMs);
    return;
  }
  const answer = read.match(body);
  seen.time = { tMs: 1000 * answer.t, atMs: nowMs };
  if (answer.head !== undefined) seen.head = answer.head;
  if (kind !== 'match') seen.refusal = undefined;
  matchSeen(seen, answer, sentMs);
  if (kind === 'lock' && ask.of !== undefined) {
    seen.locked = { id: ask.of, sentMs };
    seen.lockProblem = undefined;
  }
  if (kind === 'phase') seen.tookMs = Math.max(seen.tookMs, sentMs);
  if (kind === 'unlock' && ask.of?.startsWith(`${seen.unlock?.lock} `)) seen.unlock = undefined;
}

/** Keeps lines that follow those that were kept before. Lines that do not follow are kept too, and shown. */
function takeLines(state: DeskState, seen: Seen, { robot, of }: Ask, outcome: Outcome): void {
  if (!('body' in outcome)) return;
  const contradict = (why: string) => {
    seen.contradicts = why;
    seen.isFromOldest = true;
    changeWish(state, robot, { head: null });
  };
  const { head } = wishOf(state.wanted, robot);
  if ((head?.hash ?? undefined) !== of) return;
  if (outcome.status === 404) contradict('its log does not have the line that this desk has kept last.');
  if (outcome.status !== 200 || !Buffer.isBuffer(outcome.body)) return;
  const lines = wholeLines(outcome.body);
  const isFirst = of === undefined;
  let last = of ?? parseLine(String(lines[0] ?? ''))?.prev ?? NOTHING_BEFORE;
  let seq = head?.seq ?? 0;
  for (const bytes of lines) {
    const line = parseLine(bytes.toString());
    if (line === undefined || line.prev !== last) {
      contradict('a line of its log does not follow the one before.');
      return;
    }
    last = sha256(bytes);
    seq = line.seq;
  }
  if (lines.length === 0) return;
  seen.isFromOldest = false;
  changeWish(state, robot, { head: { seq, hash: last } });
  state.lines.push({ robot, bytes: outcome.body, follows: !isFirst });
}

function checked(state: DeskState, seen: Seen, robot: string, id: string | null | undefined): void {
  const known = wishOf(state.wanted, robot).id;
  seen.shownId = id;
  seen.isOld = id === undefined && known === null;
  if (typeof id === 'string' && known === null) changeWish(state, robot, { id });
  seen.isChecked = seen.isOld || (typeof id === 'string' && (known === null || known === id));
  seen.failure = undefined;
}

function matchSeen(seen: Seen, match: RobotMatch, sentMs: number): void {
  if (sentMs < seen.matchMs) return;
  seen.match = match;
  seen.matchMs = sentMs;
}

function refused(seen: Seen, { kind, of }: Ask, status: number, body: unknown): void {
  const { code, detail } = read.problem(body);
  if (status === 401 || status === 403) seen.refusal = { code, detail };
  else if (kind === 'status' || kind === 'health') seen.failure = detail;
  if (kind === 'lock') seen.lockProblem = detail;
  // An unlock that the robot refuses is not asked again.
  if (kind === 'unlock' && (status === 409 || status === 400) && of?.startsWith(`${seen.unlock?.lock} `)) {
    seen.unlock = undefined;
    seen.unlockMissed = true;
  }
}
