import { PLAY } from '../core/phases.js';
import {
  isInPhase,
  isLeaseOurs,
  isLocked,
  isLockedByOthers,
  isRestricted,
  PERMIT_MS,
  permitEndMs,
} from './judge.js';
import {
  type Ask,
  type DeskState,
  type Kind,
  lockWanted,
  playsIn,
  type Seen,
  seenOf,
  wishOf,
} from './state.js';

const STATUS_MS = 250;
const BEAT_MS = 500;
/** How long no other desk gets the lease. A robot's default is that it stops after this time without a beat. */
const LEASE_MS = 3000;
/** The pause between two requests of a restriction, after the first two. */
const AGAIN_MS = 1000;
/** The second request goes on a new connection, in case the first one hangs. */
const SECOND_MS = 250;
/** Lines that were asked for may come until then. */
const LINES_HANG_MS = 6000;
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
 * time. Returns whether what is wanted has changed.
 */
export function tick(state: DeskState, nowMs: number, pauseWithoutPageMs: number): boolean {
  const { match } = state.wanted;
  if (match === null || match.endsAtMs === null) return false;
  const { endsAtMs, phase, teleopS } = match;
  const silentMs = pauseWithoutPageMs === 0 ? Number.POSITIVE_INFINITY : state.pageMs + pauseWithoutPageMs;
  const sinceMs = Math.min(endsAtMs, silentMs);
  if (nowMs < sinceMs) return false;
  const next =
    silentMs < endsAtMs
      ? paused(match, silentMs, "no referee's page answers")
      : phase === 'auto' && teleopS > 0
        ? { phase: 'teleop' as const, sinceMs, endsAtMs: sinceMs + 1000 * teleopS }
        : { phase: 'ended' as const, sinceMs, endsAtMs: null, why: 'time is up' };
  state.wanted = { ...state.wanted, match: { ...match, ...next } };
  return true;
}

/** The pause of a running match, which keeps its clock. */
export function paused(
  { phase, endsAtMs }: { phase: string; endsAtMs: number | null },
  nowMs: number,
  why: string | null,
) {
  const interrupted: 'auto' | 'teleop' = phase === 'auto' ? 'auto' : 'teleop';
  const leftS = Math.max(0, ((endsAtMs ?? nowMs) - nowMs) / 1000);
  return { phase: 'pause' as const, sinceMs: nowMs, endsAtMs: null, leftS, interrupted, why };
}

/** The requests that are due now. Each is noted as sent. */
export function dueAsks(state: DeskState, nowMs: number): readonly Ask[] {
  return state.robots.flatMap(({ name }) => {
    const seen = seenOf(state, name);
    if (nowMs - seen.answeredMs > CHECK_AGAIN_MS) seen.isChecked = false;
    const due = new Due(name, seen, nowMs);
    if (!seen.isChecked)
      due.every('health', AGAIN_MS, 'GET', '/healthz', { withToken: false, isFresh: true });
    else askKnown(state, due);
    return due.asks;
  });
}

function askKnown(state: DeskState, due: Due): void {
  const { name, seen, nowMs } = due;
  const { wanted } = state;
  const { match } = wanted;
  askLock(state, due);
  // A hanging answer is not waited for: another connection may be better.
  due.every('status', seen.waiting.get('status') ? AGAIN_MS : STATUS_MS, 'GET', '/api/status');
  if (seen.refusal !== undefined && seen.refusal.code !== 'not-allowed') return;
  if (seen.time === undefined || nowMs - seen.time.atMs > TIME_MS)
    due.every('match', AGAIN_MS, 'GET', '/api/match');
  if (!wanted.permits) return;
  askUnlock(due);
  if (seen.isOld || match === null || !match.robots.includes(name)) return;
  askLines(state, due);
  if (match.phase !== 'none') {
    const takeover = nowMs - seen.takeoverMs <= PERMIT_MS && !isLeaseOurs(state, seen);
    const body = { holder: wanted.holder, ttlMs: LEASE_MS, ...(takeover && { takeover }) };
    due.every('beat', BEAT_MS, 'POST', '/api/match/lease', { body });
  }
  if (playsIn(match, name) || !PLAY.includes(match.phase)) askPhase(state, due);
}

function askLock(state: DeskState, due: Due): void {
  const { name, seen, nowMs } = due;
  const lock = lockWanted(state.wanted, name);
  if (lock === null || isLocked(state, name)) return;
  // Since the last contact others may have locked the robot. Its status comes first, unless that takes too long.
  if (seen.matchMs < seen.checkedMs && nowMs - seen.checkedMs < SECOND_MS) return;
  const { id, reason } = lock;
  // A robot of 0.3.0 takes no id.
  const body = seen.isOld ? { reason: `${reason.slice(0, OLD_REASON)} (${id})` } : { id, reason };
  if (seen.refusal !== undefined) {
    due.tried('stop', id, AGAIN_MS, '/api/stop', { withToken: false });
    // The token may be in order again.
    due.every('lock', AGAIN_MS, 'POST', '/api/match/lock', { body, of: id });
  } else if (isLockedByOthers(state, seen)) {
    // Their lock stands, but the robot is not proven to be at rest.
    due.tried('stop', id, AGAIN_MS, '/api/stop');
  } else {
    due.tried('lock', id, AGAIN_MS, '/api/match/lock', { body });
  }
}

function askUnlock(due: Due): void {
  const { seen, nowMs } = due;
  const { unlock } = seen;
  if (unlock === undefined) return;
  const endMs = unlock.sinceMs + PERMIT_MS;
  if (nowMs > endMs) {
    seen.unlock = undefined;
    seen.unlockMissed = true;
    return;
  }
  const notAfterT = due.robotT(endMs);
  if (notAfterT !== undefined)
    due.tried('unlock', `${unlock.lock} ${unlock.sinceMs}`, SECOND_MS, '/api/match/unlock', {
      body: { lock: unlock.lock, notAfterT },
    });
}

/** Asks for the lines of the robot's log that the record of the match does not have yet. */
function askLines(state: DeskState, due: Due): void {
  const { name, seen } = due;
  const { head } = wishOf(state.wanted, name);
  const periodMs = seen.waiting.get('lines') ? LINES_HANG_MS : AGAIN_MS;
  if (seen.isKeeping || head === null) return;
  if (seen.isFromOldest) due.every('lines', periodMs, 'GET', '/api/log/lines');
  else if (seen.head !== undefined && seen.head.hash !== head.hash)
    due.every('lines', periodMs, 'GET', `/api/log/lines?after=${head.hash}`, { of: head.hash });
}

function askPhase(state: DeskState, due: Due): void {
  const { seen, nowMs } = due;
  const { match } = state.wanted;
  if (match === null || seen.match === undefined) return;
  const { id, phase, sinceMs, endsAtMs } = match;
  const call = { id, revision: Math.max(seen.revision, seen.match.revision) + 1, phase };
  const ask = (of: string, periodMs: number, more: object) => {
    if (due.tried('phase', of, periodMs, '/api/match', { body: { ...call, ...more } }))
      seen.revision = call.revision;
  };
  const isPermit = PLAY.includes(phase) || phase === 'none';
  if (isPermit) {
    const endMs = permitEndMs(state, seen);
    const from = Math.max(sinceMs, seen.joinMs);
    const isOfMatch = seen.match.id === id && isLeaseOurs(state, seen);
    const notAfterT = due.robotT(endMs);
    if (
      isInPhase(state, seen) ||
      seen.tookMs >= from ||
      nowMs > endMs ||
      !isOfMatch ||
      notAfterT === undefined
    )
      return;
    const leftS = endsAtMs === null ? null : (endsAtMs - nowMs) / 1000;
    const spareS = phase === 'auto' && match.teleopS > 0 ? 1 : 0;
    if (leftS !== null && leftS + spareS <= 0) return;
    const remainingS = leftS === null ? null : leftS + spareS;
    ask(`${phase} ${from}`, SECOND_MS, { remainingS, notAfterT });
    return;
  }
  // Another desk has taken the robot over: what the clock of this one says counts no more, only a press does.
  const isPressed = match.why === null && seen.match.id === id;
  const isOurs = isPressed || isLeaseOurs(state, seen);
  if (isRestricted(state, seen) || !isOurs || (phase === 'pre' && !isLeaseOurs(state, seen))) return;
  if (match.why === 'time is up' && nowMs < sinceMs + OWN_END_MS) return;
  ask(`${phase} ${sinceMs}`, AGAIN_MS, {});
}

type Extra = Partial<Pick<Ask, 'body' | 'isFresh' | 'withToken' | 'of'>>;

/** Collects the requests to one robot that are due. */
class Due {
  readonly asks: Ask[] = [];
  readonly name: string;
  readonly seen: Seen;
  readonly nowMs: number;

  constructor(name: string, seen: Seen, nowMs: number) {
    this.name = name;
    this.seen = seen;
    this.nowMs = nowMs;
  }

  /** The time `atMs` on the robot's clock, counted from the lowest time that the robot may have now. */
  robotT(atMs: number): number | undefined {
    const { time } = this.seen;
    return time && (time.tMs + (atMs - time.atMs)) / 1000;
  }

  /** Asks if the last request of this kind is `periodMs` old. */
  every(kind: Kind, periodMs: number, method: Ask['method'], path: string, extra: Extra = {}): void {
    const { seen, nowMs } = this;
    if (nowMs - (seen.sentMs.get(kind) ?? Number.NEGATIVE_INFINITY) < periodMs) return;
    this.#add(kind, method, path, { isFresh: (seen.waiting.get(kind) ?? 0) > 0, ...extra });
  }

  /** Asks at once for something new, a second time soon, and then every `periodMs`. Returns whether it asks now. */
  tried(kind: Kind, of: string, periodMs: number, path: string, extra: Extra = {}): boolean {
    const { seen } = this;
    const before = seen.tries.get(kind);
    const count = before?.of === of ? before.count : 0;
    const waitMs = count === 0 ? 0 : count === 1 ? Math.min(SECOND_MS, periodMs) : periodMs;
    if (count > 0 && this.nowMs - (seen.sentMs.get(kind) ?? 0) < waitMs) return false;
    seen.tries.set(kind, { of, count: count + 1 });
    this.#add(kind, 'POST', path, { ...extra, of, isFresh: count > 0 });
    return true;
  }

  #add(kind: Kind, method: Ask['method'], path: string, extra: Extra): void {
    const { name: robot, seen, nowMs } = this;
    seen.sentMs.set(kind, nowMs);
    seen.waiting.set(kind, (seen.waiting.get(kind) ?? 0) + 1);
    this.asks.push({ robot, kind, method, path, isFresh: false, withToken: true, sentMs: nowMs, ...extra });
  }
}
