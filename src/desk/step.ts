import { PLAY } from '../core/phases.js';
import {
  isInPhase,
  isLeaseOurs,
  isLocked,
  isLockedByOthers,
  isPlaying,
  isTaken,
  isToRestrict,
  LEASE_MS,
  matchOf,
  permitOf,
  spareMs,
} from './judge.js';
import {
  ACTS,
  type Ask,
  type DeskMatch,
  type DeskState,
  isOurs,
  type Kind,
  lockWanted,
  PERMIT_MS,
  paused,
  permitFrom,
  playsIn,
  putMatch,
  type Seen,
  type Sent,
  seenOf,
  wishOf,
  withPhase,
} from './state.js';
import { BAD_ANSWER } from './take.js';

const NOT_SENT: Sent = { atMs: Number.NEGATIVE_INFINITY, of: undefined, count: 0, waiting: 0 };

const STATUS_MS = 250;
const BEAT_MS = 500;
/** A beat counts if it and the answer that showed the robot's time took no longer than this. */
const LATE_BEAT_MS = 2000;
/** The pause between two requests of a restriction, after the first two. */
const AGAIN_MS = 1000;
/** The second request goes on a new connection, in case the first one hangs. */
const SECOND_MS = 250;
/** Lines that were asked for may come until then. */
const LINES_HANG_MS = 6000;
/** After a release, the last lines of the robots' logs arrive within this time. Then the record is sealed. */
export const SEAL_MS = 10_000;
/** How often the desk looks at a robot's clock outside a match. */
const TIME_MS = 5000;
/** An address at which nothing has answered for this long is checked again before a token is sent to it. */
const CHECK_AGAIN_MS = 6000;
/** The characters of a reason that a robot of 0.3.0 takes, beside the id of the lock. */
const OLD_REASON = 120;
/** Robots end a phase on their own clocks. The desk asks those that have not ended it after this time. */
const OWN_END_MS = 300;

/**
 * Lets time pass: the clock of the match, and the silence of all pages. What is due first takes effect first, at its own
 * time. No match runs while the desk permits nothing. Returns whether what is wanted has changed.
 */
export function tick(state: DeskState, nowMs: number, pauseWithoutPageMs: number): boolean {
  const { match, permits } = state.wanted;
  if (match === null || match.endsAtMs === null) return false;
  const { endsAtMs, phase, teleopS } = match;
  const silentMs = pauseWithoutPageMs === 0 ? Number.POSITIVE_INFINITY : state.pageMs + pauseWithoutPageMs;
  if (nowMs < Math.min(endsAtMs, silentMs)) {
    if (permits) return false;
    putMatch(state, paused(match, nowMs, 'the list of tokens is damaged'));
  } else if (silentMs < endsAtMs) putMatch(state, paused(match, silentMs, "no referee's page answers"));
  else if (phase === 'auto' && teleopS > 0) {
    const own = { endsAtMs: endsAtMs + 1000 * teleopS, isPlanned: true };
    putMatch(state, withPhase(match, 'teleop', permitFrom(endsAtMs), own));
  } else putMatch(state, withPhase(match, 'ended', permitFrom(endsAtMs), { why: 'time is up' }));
  return true;
}

/** The requests that are due now. Each is noted as sent. */
export function dueAsks(state: DeskState, nowMs: number): readonly Ask[] {
  return state.robots.flatMap(({ name }) => {
    const seen = seenOf(state, name);
    if (nowMs - seen.answeredMs > CHECK_AGAIN_MS) {
      seen.isChecked = false;
      seen.time = undefined;
    }
    const due: Due = { state, name, seen, nowMs, asks: [] };
    if (seen.isChecked) askKnown(due);
    else {
      askSoon(due, 'health', '/healthz');
      const lock = lockWanted(state.wanted, name);
      // The robot may be the right one. A stop needs no token.
      if (lock !== null && seen.shownId === null)
        ask(due, 'stop', AGAIN_MS, '/api/stop', { body: {}, of: lock.id });
    }
    return due.asks;
  });
}

function askKnown(due: Due): void {
  const { state, name, seen, nowMs } = due;
  const { wanted } = state;
  // Another machine or robot may have taken the address.
  if (seen.failure === BAD_ANSWER || seen.refusal !== undefined) ask(due, 'health', AGAIN_MS, '/healthz');
  askLock(due);
  askSoon(due, 'status', '/api/status');
  if (seen.refusal !== undefined && seen.refusal.code !== 'not-allowed') return;
  const isAgeUnknown = seen.lastLease?.beatMs === Number.NEGATIVE_INFINITY;
  if (seen.time === undefined || isAgeUnknown || nowMs - seen.time.atMs > TIME_MS)
    askSoon(due, 'match', '/api/match');
  if (wanted.permits) askUnlock(due);
  const match = matchOf(state, name);
  if (seen.isOld || match === null) return;
  // A robot that is to be released from an older match still has lines of the loaded one.
  if (wanted.match?.robots.includes(name)) askLines(due);
  const takeover = nowMs < seen.takeover.untilMs;
  const notAfterT = robotT(seen, takeover ? seen.takeover.untilMs : nowMs + LATE_BEAT_MS);
  if (notAfterT !== undefined && isToBeat(due, match)) {
    const body = { holder: wanted.holder, ttlMs: LEASE_MS, notAfterT, ...(takeover && { takeover }) };
    ask(due, 'beat', takeover ? SECOND_MS : BEAT_MS, '/api/match/lease', { body });
  }
  if (playsIn(match, name) || !PLAY.includes(match.phase)) askPhase(due, match);
}

/** Whether the robot gets a beat. A beat keeps a robot playing, so its phase must be known. */
function isToBeat({ state, name, seen, nowMs }: Due, match: DeskMatch): boolean {
  if (seen.match === undefined || isTaken(state, seen)) return false;
  // Since then another desk may have had the lease, which has run out again.
  if (nowMs - seen.matchMs > LEASE_MS) return false;
  const { id, phase } = seen.match;
  // A robot that plays gets one only if it plays what the desk wants.
  if (PLAY.includes(phase)) return PLAY.includes(match.phase) && playsIn(match, name) && id === match.id;
  // A robot that missed the release needs the lease to be released.
  return match.phase !== 'none' || nowMs < seen.join.untilMs;
}

function askLock(due: Due): void {
  const { state, name, seen, nowMs } = due;
  const lock = lockWanted(state.wanted, name);
  const shown = seen.match?.lock?.id;
  // Another desk reads from the id what the lock is for.
  const hasOther = isOurs(state.wanted, shown) && shown !== lock?.id;
  if (lock === null || (isLocked(state, name, nowMs) && !hasOther)) return;
  // Since the last contact others may have locked the robot. Its status comes first, unless that takes too long.
  if (seen.refusal === undefined && seen.matchMs < seen.checkedMs && nowMs - seen.checkedMs < SECOND_MS)
    return;
  const { id, reason } = lock;
  // A robot of 0.3.0 takes no id.
  const body = seen.isOld
    ? { reason: `${reason.slice(0, OLD_REASON)} (${id})` }
    : {
        id,
        reason,
        replaces: [`${state.wanted.holder}:`, ...state.wanted.former],
      };
  const isRefused = seen.refusal !== undefined || seen.lockProblem !== undefined;
  // A robot of 0.3.0 would lose a lock of others that it has not shown yet.
  const isTheirs = isLockedByOthers(state, seen) || (seen.isOld && seen.matchMs < seen.checkedMs);
  // The lock of others stands, but the robot is not proven to be at rest.
  if (isRefused || isTheirs) ask(due, 'stop', AGAIN_MS, '/api/stop', { body: {}, of: id });
  // A token that was refused may be in order again. A robot of 0.3.0 would lose the lock of others.
  if (!isTheirs || (isRefused && !seen.isOld))
    ask(due, 'lock', AGAIN_MS, '/api/match/lock', { body, of: id });
}

function askUnlock(due: Due): void {
  const { state, name, seen, nowMs } = due;
  const { unlock } = seen;
  if (unlock === undefined) return;
  const { lock, untilMs } = unlock;
  if (nowMs >= untilMs || lockWanted(state.wanted, name) !== null) {
    seen.unlock = undefined;
    return;
  }
  const notAfterT = robotT(seen, untilMs);
  if (notAfterT !== undefined)
    ask(due, 'unlock', SECOND_MS, '/api/match/unlock', {
      of: `${lock} ${untilMs}`,
      body: { lock, notAfterT },
    });
}

/** Asks for the lines of the robot's log that the record of the match does not have yet. */
function askLines(due: Due): void {
  const { state, name, seen, nowMs } = due;
  const { head, logFault } = wishOf(state.wanted, name);
  const periodMs = seen.sent.get('lines')?.waiting ? LINES_HANG_MS : AGAIN_MS;
  const { match } = state.wanted;
  // No beat shows a new head after the release.
  const isSealing = match?.phase === 'none' && nowMs - match.sinceMs < SEAL_MS;
  const isBetween = match?.phase === 'none' && !isSealing;
  if (seen.isKeeping || head === null || (isBetween && logFault !== null)) return;
  if (seen.isFromOldest) ask(due, 'lines', periodMs, '/api/log/lines');
  else if (isSealing || (seen.head !== undefined && seen.head.hash !== head.hash))
    ask(due, 'lines', periodMs, `/api/log/lines?after=${head.hash}`, { of: head.hash });
}

function askPhase(due: Due, match: DeskMatch): void {
  const { state, seen, nowMs } = due;
  if (seen.match === undefined || isInPhase(match, seen)) return;
  const { id, sinceMs, endsAtMs } = match;
  const isOfMatch = seen.match.id === id;
  // A robot that missed the end is ended before it is released.
  const isToEnd = match.phase === 'none' && isPlaying(seen.match, id) && !isTaken(state, seen);
  const phase = isToEnd ? 'ended' : match.phase;
  // What this desk knows may be old: since then another desk may have taken the robot. A dead desk takes none.
  const { lease } = seen.match;
  const holder = lease?.expired === true ? lease.holder : state.wanted.holder;
  const call = { id, revision: Math.max(seen.revision, seen.match.revision) + 1, phase, holder };
  const askFor = (fromMs: number, periodMs: number, more: object) => {
    const extra = { of: `${phase} ${fromMs}`, body: { ...call, ...more } };
    if (ask(due, 'phase', periodMs, '/api/match', extra)) seen.revision = call.revision;
  };
  if (PLAY.includes(phase) || phase === 'none') {
    const permit = permitOf(match, seen);
    const notAfterT = robotT(seen, permit.untilMs);
    const isPermitted = state.wanted.permits && seen.tookMs < permit.sinceMs && nowMs < permit.untilMs;
    if (!isPermitted || notAfterT === undefined) return;
    // A planned teleop follows auto. A robot that does not play by then waits for a press.
    const isPlanned = phase === 'teleop' && match.isPlanned;
    const follows = !isPlanned || seen.match.phase === 'auto' || seen.join.sinceMs > sinceMs;
    if (!isOfMatch || !isLeaseOurs(state, seen) || !follows) return;
    const remainingS = endsAtMs === null ? null : (endsAtMs + spareMs(phase, match.teleopS) - nowMs) / 1000;
    if (remainingS === null || remainingS > 0) askFor(permit.sinceMs, SECOND_MS, { remainingS, notAfterT });
    return;
  }
  if (phase === 'pre') {
    const notAfterT = robotT(seen, nowMs + PERMIT_MS);
    if (isLeaseOurs(state, seen) && notAfterT !== undefined) askFor(sinceMs, SECOND_MS, { notAfterT });
    return;
  }
  // A robot that was released has ended before.
  const hasEnded = phase === 'ended' && isOfMatch && seen.match.phase === 'none';
  if (!isToRestrict(state, match, seen) || hasEnded) return;
  if (match.why === 'time is up' && nowMs < sinceMs + OWN_END_MS) return;
  askFor(sinceMs, AGAIN_MS, {});
}

/** The requests to one robot that are due. */
interface Due {
  readonly state: DeskState;
  readonly name: string;
  readonly seen: Seen;
  readonly nowMs: number;
  readonly asks: Ask[];
}

/** The time `atMs` on the robot's clock, counted from the lowest time that the robot may have now. */
function robotT({ time }: Seen, atMs: number): number | undefined {
  return time && (time.tMs + (atMs - time.atMs)) / 1000;
}

/** A hanging answer is not waited for: another connection may be better. */
function askSoon(due: Due, kind: Kind, path: string): void {
  ask(due, kind, due.seen.sent.get(kind)?.waiting ? AGAIN_MS : STATUS_MS, path);
}

/**
 * Asks if the last request of this kind is `periodMs` old. An act is asked for at once if it is a new one (`of`), and for
 * the second time soon. While a request of this kind is not answered, the next one gets a new connection. Returns whether
 * it asks now.
 */
function ask(
  { name: robot, seen, nowMs, asks }: Due,
  kind: Kind,
  periodMs: number,
  path: string,
  extra: Pick<Ask, 'body' | 'of'> = {},
): boolean {
  const { atMs, of, count, waiting } = seen.sent.get(kind) ?? NOT_SENT;
  const before = of === extra.of ? count : 0;
  const waitMs = ACTS.includes(kind) && before < 2 ? before * SECOND_MS : periodMs;
  if (nowMs - atMs < waitMs) return false;
  seen.sent.set(kind, { atMs: nowMs, of: extra.of, count: before + 1, waiting: waiting + 1 });
  // The id is asked for on a new connection. Only a robot that has shown its own id gets the token.
  const isFresh = waiting > 0 || kind === 'health';
  const withToken = seen.isChecked && kind !== 'health';
  asks.push({ robot, kind, path, isFresh, withToken, sentMs: nowMs, ...extra });
  return true;
}
