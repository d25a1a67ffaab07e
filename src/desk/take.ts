import { sha256 } from '../core/sha256.js';
import { NOTHING_BEFORE, parseLine, wholeLines } from '../events/log-line.js';
import type { LogHead } from '../schemas/log.js';
import { type RobotMatch, read } from './answers.js';
import { isInPhase, isLocked, LEASE_MS } from './judge.js';
import {
  type Ask,
  changeWish,
  type DeskState,
  isOurs,
  type LogFault,
  lockWanted,
  NO_PERMIT,
  type Seen,
  seenOf,
  wishOf,
} from './state.js';

interface RobotAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** What became of a request: an answer, or the reason for which there is none. */
export type Outcome = RobotAnswer | { readonly failure: string; readonly isMoved?: boolean };

/** Lines that a robot has answered. */
export interface RobotLines {
  readonly robot: string;
  readonly bytes: Buffer;
  /** False if the lines do not follow what was kept before. */
  readonly follows: boolean;
  /** The line that the desk had kept last when it asked. */
  readonly after: LogHead | null;
  /** The last of these lines. */
  readonly head: LogHead;
}

export const BAD_ANSWER = 'Its answer is not one of a robot: check its address.';
/** The id of a lock in its reason. A robot of 0.3.0 keeps no other id of it. */
const ID_IN_REASON = /\((desk-[0-9a-f]+:[^()]+)\)$/;
/** A robot that has restarted shows a shorter time since its start. */
const RESTART_S = 1;

/** Takes in what became of a request. Returns lines that the disk shall keep. Whatever a robot answers, this does not throw. */
export function take(state: DeskState, ask: Ask, outcome: Outcome, nowMs: number): RobotLines | undefined {
  const seen = seenOf(state, ask.robot);
  const sent = seen.sent.get(ask.kind);
  if (sent !== undefined) sent.waiting -= 1;
  if ('failure' in outcome) {
    if (ask.kind === 'lock') seen.lockProblem = outcome.failure;
    seen.failure = outcome.failure;
    if (outcome.isMoved) {
      seen.isChecked = false;
      // The clock of a daemon starts again with the daemon.
      seen.time = undefined;
    }
    return undefined;
  }
  seen.answeredMs = nowMs;
  // Until the robot's own id has answered.
  if (ask.kind === 'health') seen.isChecked = false;
  try {
    if (ask.kind === 'lines') return linesOf(state, seen, ask, outcome);
    if (outcome.status === 200) taken(state, seen, ask, outcome.body, nowMs);
    else refused(seen, ask, outcome.status, outcome.body);
  } catch {
    seen.failure = BAD_ANSWER;
  }
  return undefined;
}

function taken(state: DeskState, seen: Seen, ask: Ask, body: unknown, nowMs: number): void {
  const { kind, robot, sentMs } = ask;
  if (kind === 'stop') return;
  if (kind === 'health') {
    checked(state, seen, robot, read.health(body).id);
    if (seen.isChecked) seen.checkedMs = nowMs;
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
    if (lock !== null && hadOurs && status.match.lock === null && isLocked(state, robot, nowMs))
      seen.unlockedByOthers = lock.id;
    seen.status = status;
    seen.statusMs = sentMs;
    seen.roundTripMs = nowMs - sentMs;
    matchSeen(state, seen, status.match, sentMs);
    return;
  }
  const answer = read.match(body);
  seen.time = { tMs: 1000 * answer.t, atMs: nowMs };
  if (answer.head !== undefined && sentMs >= seen.headMs) {
    seen.head = answer.head;
    seen.headMs = sentMs;
    // The record has the lines that follow the first head.
    if (wishOf(state.wanted, robot).head === null) {
      changeWish(state, robot, { head: answer.head });
      seen.isHeadAdopted = true;
    }
  }
  if (kind !== 'match') seen.refusal = undefined;
  matchSeen(state, seen, answer, sentMs);
  if (kind === 'lock' && ask.of !== undefined) {
    seen.locked = { id: ask.of, sentMs };
    seen.lockProblem = undefined;
  }
  if (kind === 'phase' && ask.of?.startsWith(`${state.wanted.match?.phase} `))
    seen.tookMs = Math.max(seen.tookMs, sentMs);
  if (kind === 'unlock' && ask.of?.startsWith(`${seen.unlock?.lock} `)) seen.unlock = undefined;
}

/** The lines that follow those that were kept before. Lines that do not follow are taken too, and shown. */
function linesOf(
  state: DeskState,
  seen: Seen,
  { robot, of }: Ask,
  { status, body }: RobotAnswer,
): RobotLines | undefined {
  const { head, logFault } = wishOf(state.wanted, robot);
  const fault = (what: LogFault['what'], why: string) =>
    changeWish(state, robot, { logFault: { what, why } });
  if (of !== (seen.isFromOldest ? undefined : head?.hash)) return undefined;
  if (status === 404) seen.isFromOldest = true;
  if (status !== 200 || !Buffer.isBuffer(body)) return undefined;
  const lines = wholeLines(body);
  const first = parseLine(String(lines[0] ?? ''));
  if (of === undefined && head !== null && logFault === null) {
    if (first === undefined || first.seq <= head.seq || first.prev === NOTHING_BEFORE)
      fault('contradicts', 'its log does not have the line that this desk has kept last.');
    // A log drops its oldest lines to make room. Nothing tells that apart from a log that was cut there.
    else
      fault(
        'lines-missing',
        'its log begins after the lines that this desk has kept: it dropped lines to make room, or was cut.',
      );
  }
  let newest = { seq: 0, hash: of ?? first?.prev ?? NOTHING_BEFORE };
  for (const bytes of lines) {
    const line = parseLine(bytes.toString());
    if (line?.prev !== newest.hash) fault('contradicts', 'a line of its log does not follow the one before.');
    newest = { seq: line?.seq ?? newest.seq, hash: sha256(bytes) };
  }
  if (lines.length === 0) return undefined;
  seen.isKeeping = true;
  return { robot, bytes: body, follows: of !== undefined && !seen.isHeadAdopted, after: head, head: newest };
}

/** The disk has kept these lines, or has failed to. Lines that it has not are asked for again. */
export function keptLines(state: DeskState, { robot, after, head }: RobotLines, isKept: boolean): void {
  const seen = seenOf(state, robot);
  seen.isKeeping = false;
  // Another board may have been accepted meanwhile.
  if (!isKept || wishOf(state.wanted, robot).head?.hash !== after?.hash) return;
  seen.isHeadAdopted = false;
  seen.isFromOldest = false;
  changeWish(state, robot, { head });
}

function checked(state: DeskState, seen: Seen, robot: string, id: string | null | undefined): void {
  const known = wishOf(state.wanted, robot).id;
  seen.shownId = id;
  seen.isOld = id === undefined && known === null;
  if (typeof id === 'string' && known === null) changeWish(state, robot, { id });
  seen.isChecked = seen.isOld || (typeof id === 'string' && (known === null || known === id));
  seen.failure = undefined;
}

function matchSeen(state: DeskState, seen: Seen, match: RobotMatch, sentMs: number): void {
  const isOld = sentMs < seen.matchMs;
  const { lease, lock } = match;
  // Of a status and a match that were asked for at once, only the match has the age of the last beat.
  if (lease !== null && (!isOld || lease.holder === seen.lastLease?.holder)) {
    const { holder, expired } = lease;
    const known = seen.lastLease?.holder === holder ? seen.lastLease.beatMs : Number.NEGATIVE_INFINITY;
    const ageMs = expired === true ? Number.POSITIVE_INFINITY : LEASE_MS;
    const shownMs = typeof match.beatAgeS === 'number' ? 1000 * match.beatAgeS : ageMs;
    seen.lastLease = { holder, beatMs: Math.max(known, sentMs - shownMs) };
    // A press takes the lease once.
    if (holder === state.wanted.holder && sentMs >= seen.takeover.sinceMs) seen.takeover = NO_PERMIT;
  }
  if (isOld) return;
  const id = lock?.id ?? ID_IN_REASON.exec(lock?.reason ?? '')?.[1];
  seen.match = { ...match, lock: lock && { ...lock, id } };
  seen.matchMs = sentMs;
  // The answer to the request may have been lost.
  if (sentMs >= (state.wanted.match?.sinceMs ?? sentMs) && isInPhase(state.wanted.match, seen))
    seen.tookMs = sentMs;
}

function refused(seen: Seen, { kind, of, sentMs }: Ask, status: number, body: unknown): void {
  const { code, detail } = read.problem(body);
  if (status === 401 || status === 403) seen.refusal = { code, detail };
  else if (kind === 'status' || kind === 'health') seen.failure = detail;
  if (kind === 'lock') seen.lockProblem = detail;
  // An unlock that the robot refuses is not asked again.
  const isFinal = (status === 409 && code !== 'too-late') || status === 400;
  if (kind === 'unlock' && isFinal && of?.startsWith(`${seen.unlock?.lock} `)) seen.unlock = undefined;
  // The robot's time is later than the desk thinks, because the answer that showed it was slow.
  if (code === 'too-late' && (seen.time?.atMs ?? sentMs) <= sentMs) seen.time = undefined;
}
