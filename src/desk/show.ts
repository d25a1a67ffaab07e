import { perUnit } from '../core/units.js';
import { version } from '../core/version.js';
import { isHeard, isLeaseOurs, isLocked, lacksOf, missedBy, problemsOf } from './judge.js';
import { type DeskMatch, type DeskState, isOurs, lockWanted, playsIn, seenOf, wishOf } from './state.js';
import type { DeskView, MatchView, RobotView } from './view.js';

/** After this time a lock that no robot has confirmed counts as not confirmed. */
const CONFIRM_MS = 1000;

/** `own`: what the desk knows about itself. */
export function viewOf(
  state: DeskState,
  own: Pick<DeskView, 'problems' | 'recorded'>,
  nowMs: number,
): DeskView {
  const { holder, permits, lock, match, added } = state.wanted;
  const field = state.robots.filter(({ name }) => wishOf(state.wanted, name).place === 'field');
  return {
    version,
    t: nowMs / 1000,
    holder,
    permits,
    ...own,
    lock: lock && {
      id: lock.id,
      by: lock.by,
      reason: lock.reason,
      atT: lock.atMs / 1000,
      confirmed: field.filter(({ name }) => isLocked(state, name)).length,
      of: field.length,
    },
    match: match && matchView(state, match, nowMs),
    matches: state.plans,
    otherDesk: otherDesk(state, nowMs),
    robots: state.robots.map(({ name, address }) => ({
      ...robotView(state, name, nowMs),
      address,
      isInFile: !added.some(robot => robot.name === name),
    })),
  };
}

function matchView(state: DeskState, match: DeskMatch, nowMs: number): MatchView {
  const { sinceMs: _, endsAtMs, ...shown } = match;
  const isWaiting = match.phase === 'pre' || match.phase === 'pause';
  const plays = isWaiting ? match.robots.filter(name => playsIn(match, name)) : [];
  const lacks = plays.flatMap(robot => lacksOf(state, robot, nowMs).map(text => ({ robot, text })));
  return { ...shown, endsAtT: endsAtMs === null ? null : endsAtMs / 1000, lacks };
}

/** Another desk whose beats the robots of the field took last, in a match that is not over. */
function otherDesk(state: DeskState, nowMs: number): DeskView['otherDesk'] {
  const found = state.robots.flatMap(({ name }) => {
    const seen = seenOf(state, name);
    const { match } = seen;
    const isOver = match === undefined || match.phase === 'none' || match.phase === 'ended';
    return isOver || match.lease === null || isLeaseOurs(state, seen) || !isHeard(seen, nowMs)
      ? []
      : [{ name, match, lease: match.lease }];
  });
  const [first] = found;
  if (first === undefined) return null;
  const { holder, by } = first.lease;
  const robots = found.filter(({ lease }) => lease.holder === holder).map(({ name }) => name);
  return { holder, by, robots, match: first.match.id, phase: first.match.phase };
}

function robotView(state: DeskState, name: string, nowMs: number): Omit<RobotView, 'address' | 'isInFile'> {
  const seen = seenOf(state, name);
  const wish = wishOf(state.wanted, name);
  const { status, match } = seen;
  const wanted = lockWanted(state.wanted, name);
  const problems = problemsOf(state, name, nowMs);
  const locking =
    wanted === null
      ? null
      : isLocked(state, name)
        ? 'confirmed'
        : nowMs - wanted.atMs < CONFIRM_MS
          ? 'asking'
          : 'not confirmed';
  const lock = match?.lock ?? null;
  return {
    name,
    place: wish.place,
    id: wish.id,
    otherId:
      typeof seen.shownId === 'string' && wish.id !== null && seen.shownId !== wish.id ? seen.shownId : null,
    ageS: status === undefined ? null : (nowMs - seen.statusMs) / 1000,
    heard: isHeard(seen, nowMs),
    roundTripMs: seen.roundTripMs ?? null,
    problems:
      locking === 'not confirmed' && seen.lockProblem !== undefined && seen.lockProblem !== seen.failure
        ? [`NOT CONFIRMED. ${seen.lockProblem}`, ...problems]
        : problems,
    version: status?.version ?? null,
    matchId: match?.id ?? null,
    phase: match?.phase ?? null,
    stopped: status?.stopped ?? null,
    lock: lock && {
      id: lock.id ?? '',
      by: lock.by,
      reason: lock.reason,
      isOurs: isOurs(state.wanted, lock.id),
    },
    locking,
    lockedAlone: wish.lock !== null,
    light: status?.laser.light ?? null,
    torque: status === undefined ? null : perUnit(unit => status[unit.name].torque),
    modes: status === undefined ? null : perUnit(unit => status[unit.name].mode),
    plays: playsIn(state.wanted.match, name),
    missed: missedBy(state, name, nowMs),
    contradicts: seen.logFault?.what === 'contradicts' ? seen.logFault.why : null,
    unlockMissed: seen.unlockMissed,
  };
}
