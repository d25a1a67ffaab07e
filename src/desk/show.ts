import { perUnit } from '../core/units.js';
import { isHeard, isLeaseOurs, isLocked, lacksOfAll, missedBy, otherIdOf, problemsOf } from './judge.js';
import { type DeskMatch, type DeskState, inField, isOurs, lockWanted, seenOf, wishOf } from './state.js';

/** After this time a lock that no robot has confirmed counts as not confirmed. */
const CONFIRM_MS = 1000;

export type DeskView = ReturnType<typeof viewOf>;
export type MatchView = ReturnType<typeof matchView>;
export type RobotView = DeskView['robots'][number];

/** What the desk knows about itself. */
interface Own {
  /** What is wrong with the desk itself, with the cure. */
  readonly problems: readonly string[];
  /** False if what happens does not reach the desk's disk. */
  readonly recorded: boolean;
}

/** The body of GET /api/status of the desk, and of the answer to each press. Times `…T` are seconds, as `t`. */
export function viewOf(state: DeskState, own: Own, nowMs: number) {
  const { permits, lock, match } = state.wanted;
  const field = inField(state);
  return {
    /** Now, in monotonic seconds of the desk. */
    t: nowMs / 1000,
    permits,
    ...own,
    /** LOCK ALL stands. Null if it does not. */
    lock: lock && {
      id: lock.id,
      by: lock.by,
      confirmed: field.filter(name => isLocked(state, name, nowMs)).length,
      of: field.length,
    },
    match: match && matchView(state, match, nowMs),
    matches: state.plans,
    otherDesk: otherDesk(state, nowMs),
    /** In the order of the file, then in the order in which they were added. */
    robots: state.robots.map(({ name }) => robotView(state, name, nowMs)),
  };
}

function matchView(state: DeskState, match: DeskMatch, nowMs: number) {
  const { sinceMs: _, untilMs: __, endsAtMs, ...shown } = match;
  const isWaiting = match.phase === 'pre' || match.phase === 'pause';
  const lacks = isWaiting ? lacksOfAll(state, nowMs) : [];
  return { ...shown, endsAtT: endsAtMs === null ? null : endsAtMs / 1000, lacks };
}

/** Another desk that holds the leases of robots in a match that is not over. Null if there is none. */
function otherDesk(state: DeskState, nowMs: number) {
  const found = state.robots.flatMap(({ name }) => {
    const seen = seenOf(state, name);
    const { phase = 'none', lease = null } = seen.match ?? {};
    const isOver = phase === 'none' || phase === 'ended';
    const isOther = lease !== null && !isLeaseOurs(state, seen);
    return isOther && !isOver && isHeard(seen, nowMs) ? [{ name, lease }] : [];
  });
  const [first] = found;
  if (first === undefined) return null;
  const { holder, by } = first.lease;
  const robots = found.filter(({ lease }) => lease.holder === holder).map(({ name }) => name);
  return { holder, by, robots };
}

function robotView(state: DeskState, name: string, nowMs: number) {
  const seen = seenOf(state, name);
  const wish = wishOf(state.wanted, name);
  const { status, match } = seen;
  const wanted = lockWanted(state.wanted, name);
  const problems = problemsOf(state, name, nowMs);
  const locking =
    wanted === null
      ? null
      : isLocked(state, name, nowMs)
        ? 'confirmed'
        : nowMs - wanted.atMs < CONFIRM_MS
          ? 'asking'
          : 'not confirmed';
  const lock = match?.lock ?? null;
  return {
    name,
    place: wish.place,
    /** Only an edit of FILE removes a robot that is in FILE. */
    isInFile: !state.wanted.added.some(robot => robot.name === name),
    /** Another id that answers at the address. No token is sent until a press accepts it. */
    otherId: otherIdOf(state, name),
    /** The age of everything below, counted from the request. Null if nothing was heard yet. */
    ageS: status === undefined ? null : (nowMs - seen.statusMs) / 1000,
    /** Data of the last 1.5 s. Otherwise the tile is grey and says "not heard". */
    heard: isHeard(seen, nowMs),
    roundTripMs: seen.roundTripMs ?? null,
    /** What is wrong, with its cure; the worst first. */
    problems:
      locking === 'not confirmed' &&
      seen.lockProblem !== undefined &&
      ![seen.failure, seen.refusal?.detail].includes(seen.lockProblem)
        ? [`NOT CONFIRMED. ${seen.lockProblem}`, ...problems]
        : problems,
    phase: match?.phase ?? null,
    stopped: status?.stopped ?? null,
    lock: lock && { by: lock.by, reason: lock.reason, isOurs: isOurs(state.wanted, lock.id) },
    /** Whether the robot has confirmed the lock that the desk wants. Null if the desk wants none. */
    locking,
    /** The id of the lock that the tile's Unlock lifts. Null if there is none. */
    ownLock: (wish.lock ?? (isOurs(state.wanted, lock?.id) ? lock : null))?.id ?? null,
    light: status?.laser.light ?? null,
    torque: status === undefined ? null : perUnit(unit => status[unit.name].torque),
    modes: status === undefined ? null : perUnit(unit => status[unit.name].mode),
    /** The robot missed the second of a start, of a next phase or of a release, and has a button to join. */
    missed: missedBy(state, name, nowMs),
    /** The robot's log does not continue what this desk has kept: what differs. */
    contradicts: wish.logFault?.what === 'contradicts' ? wish.logFault.why : null,
  };
}
