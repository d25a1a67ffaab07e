import { withoutControls } from '../core/control-characters.js';
import { RobotError } from '../core/errors.js';
import { PLAY } from '../core/phases.js';
import * as s from '../schemas/schema.js';
import { button, ofRobot, type Press, refuse, requirePermits, requireRobot } from './press.js';
import { changeWish, type DeskLock, type DeskState, isOurs, lockWanted, seenOf, wishOf } from './state.js';

/** For people. No text refuses a lock. */
const reason = s.optional(s.text());

/** What a lock is for: LOCK ALL, the LOCK of a tile, or a robot that is left out. Another desk reads it from the id. */
const LOCK_KINDS = ['all', 'one', 'out'] as const;
type LockKind = (typeof LOCK_KINDS)[number];

export function lockOf(
  state: DeskState,
  { id, by, nowMs }: Press,
  kind: LockKind,
  reason = `locked by ${by}`,
): DeskLock {
  return { id: `${state.wanted.holder}:${kind}:${id}`, by, reason: withoutControls(reason), atMs: nowMs };
}

/** What a lock is for. Undefined if its id is not one that a desk makes. */
export function lockKind(id: string): LockKind | undefined {
  // A robot refuses a lock that replaces an id which breaks its own rule.
  const [, kind] = /^desk-[^:\p{C}]{1,15}:([a-z]{3}):[^\p{C}]{1,40}$/u.exec(id) ?? [];
  return LOCK_KINDS.find(one => one === kind);
}

export const lockAll = button({ reason }, (state, press, { reason }) => {
  state.wanted = { ...state.wanted, lock: lockOf(state, press, 'all', reason) };
});

/** The id of the lock that the referee saw. */
const ofLock = { lock: s.optional(s.text()) };

/** Throws `lock-changed` if a newer lock has taken the place of the one that the referee saw. */
function requireLock(lock: DeskLock | null, id: string | undefined): void {
  if (lock !== null && id !== undefined && id !== lock.id)
    throw new RobotError('lock-changed', { by: lock.by, reason: lock.reason });
}

export const unlockAll = button(ofLock, (state, press, { lock: id }) => {
  requirePermits(state);
  const { lock } = state.wanted;
  requireLock(lock, id);
  if (lock === null) return;
  state.wanted = { ...state.wanted, lock: null };
  for (const { name } of state.robots)
    if (wishOf(state.wanted, name).place === 'field' && lockWanted(state.wanted, name) === null)
      lift(state, name, lock.id, press);
});

/** Asks the robot for one second to remove a lock of this desk. */
function lift(state: DeskState, name: string, fallback: string | undefined, { permit }: Press): void {
  const seen = seenOf(state, name);
  const observed = seen.match?.lock?.id;
  // A robot of 0.3.0 removes any lock, so its lock must have been seen.
  const lock = isOurs(state.wanted, observed) ? observed : seen.isOld ? undefined : fallback;
  seen.unlock = lock === undefined ? undefined : { lock, untilMs: permit.untilMs };
}

export const lockOne = button({ ...ofRobot, reason }, (state, press, { robot, reason }) => {
  requireRobot(state, robot);
  changeWish(state, robot, { lock: lockOf(state, press, 'one', reason) });
});

export const unlockOne = button({ ...ofRobot, ...ofLock }, (state, press, { robot, lock: id }) => {
  requireRobot(state, robot);
  requirePermits(state);
  const { lock, match } = state.wanted;
  if (match?.without.includes(robot) === true && PLAY.includes(match.phase))
    refuse('The match plays without this robot. End or pause the match first.');
  const { lock: own, place } = wishOf(state.wanted, robot);
  requireLock(own, id);
  if (place === 'field' && lock !== null) refuse('LOCK ALL stands. Unlock the field first.');
  changeWish(state, robot, { lock: null });
  lift(state, robot, own?.id, press);
});
