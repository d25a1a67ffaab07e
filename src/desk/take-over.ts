import { PLAY } from '../core/phases.js';
import type { RobotMatch } from './answers.js';
import { isHeard, isLeaseOurs, isPlaying, isTaken, spareMs } from './judge.js';
import { lockKind } from './lock-presses.js';
import { button } from './press.js';
import { recordName } from './record.js';
import {
  changeWish,
  type DeskState,
  inField,
  isOurs,
  OVER,
  permitsNothing,
  putMatch,
  type Seen,
  seenOf,
  wishOf,
  withPhase,
} from './state.js';

/** A robot takes 20 beginnings of ids, one of which is the desk's own. */
const MOST_FORMER = 19;

interface Report {
  readonly name: string;
  readonly seen: Seen;
  readonly match: RobotMatch;
}

/** Takes over what the robots report: the match of another desk, and its locks. */
export const takeOver = button({}, (state, { nowMs, permit, at }) => {
  const reports = inField(state).flatMap((name): readonly Report[] => {
    const seen = seenOf(state, name);
    return seen.match === undefined || !isHeard(seen, nowMs) ? [] : [{ name, seen, match: seen.match }];
  });
  state.wanted = { ...state.wanted, permits: true };
  takeLocks(state, reports, nowMs);
  const known = state.wanted.match;
  // Of a robot with the lease of this desk, the desk knows more than the robot. A robot that has restarted has no lease.
  const isKnown = ({ name, match, seen }: Report) => {
    if (known === null || isTaken(state, seen)) return false;
    const isOver =
      match.id === wishOf(state.wanted, name).left || (match.id === known.id && OVER.includes(known.phase));
    return isLeaseOurs(state, seen) || (match.lease === null && isOver);
  };
  const news = reports.filter(report => !isKnown(report));
  const running = news.filter(({ match }) => !['none', 'ended'].includes(match.phase));
  const isPlayedElsewhere = running.some(
    ({ match }) => match.lease !== null && match.lease.expired !== true && isPlaying(match, known?.id ?? ''),
  );
  // This desk has its own match to run or to end first, unless that is a paused one that others play.
  const hasOwnMatch = reports.some(
    ({ match, seen }) =>
      match.id === known?.id &&
      isLeaseOurs(state, seen) &&
      !OVER.includes(match.phase) &&
      !(match.phase === 'pause' && isPlayedElsewhere),
  );
  for (const { seen } of hasOwnMatch ? reports.filter(report => !running.includes(report)) : reports) {
    seen.takeover = permit;
    seen.claimedMs = nowMs;
  }
  if (hasOwnMatch) return;
  const id = mostFrequent(running.map(({ match }) => match.id ?? ''));
  if (id === undefined || id === '') {
    const isEndedElsewhere = news.some(({ match }) => match.id === known?.id && match.phase === 'ended');
    if (known !== null && !OVER.includes(known.phase) && isEndedElsewhere)
      putMatch(state, withPhase(known, 'ended', permit, { why: 'another desk has ended it' }));
    return;
  }
  const own = running.filter(({ match }) => match.id === id);
  const phase = mostFrequent(own.map(({ match }) => match.phase)) ?? 'pause';
  const plan = state.plans.find(one => one.id === id) ?? {
    id,
    robots: own.map(({ name }) => name),
    autoS: 0,
    teleopS: 0,
  };
  // The robot's own clock says when the phase ends.
  const ends = own.flatMap(({ seen, match }) =>
    match.phase === phase && match.endsAtT !== null && seen.time !== undefined
      ? [1000 * match.endsAtT - seen.time.tMs + seen.time.atMs - spareMs(phase, plan.teleopS)]
      : [],
  );
  const isLeftOut = (name: string) => lockKind(wishOf(state.wanted, name).lock?.id ?? '') === 'out';
  const isIn = (name: string) => phase === 'pre' || own.some(one => one.name === name);
  const without = plan.robots.filter(name => !isIn(name) || isLeftOut(name));
  const match = { ...plan, without, record: recordName(id, at) };
  // This press starts no robot: one that is not in the phase joins by a press of its own.
  const isPlay = PLAY.includes(phase);
  const endsAtMs = isPlay && ends.length > 0 ? Math.min(...ends) : null;
  putMatch(
    state,
    withPhase(match, isPlay && endsAtMs === null ? 'pause' : phase, permitsNothing(nowMs), { endsAtMs }),
  );
  state.pageMs = nowMs;
});

/** Makes the locks of another desk those of this desk. LOCK ALL counts only if each robot that is heard is locked. */
function takeLocks(state: DeskState, reports: readonly Report[], nowMs: number): void {
  const found = reports.flatMap(({ name, match: { lock } }) => {
    const id = lock?.id;
    if (lock === null || id === undefined || isOurs(state.wanted, id)) return [];
    const kind = lockKind(id);
    return kind === undefined ? [] : [{ name, kind, lock: { ...lock, id, atMs: nowMs } }];
  });
  const former = [...new Set([...found.map(({ lock }) => lock.id), ...state.wanted.former])];
  state.wanted = { ...state.wanted, former: former.slice(0, MOST_FORMER) };
  const areAllLocked = reports.every(({ match }) => match.lock !== null);
  for (const { name, kind, lock } of found)
    if (kind === 'all' && areAllLocked) state.wanted = { ...state.wanted, lock: state.wanted.lock ?? lock };
    else changeWish(state, name, { lock });
}

function mostFrequent<T extends string>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0];
}
