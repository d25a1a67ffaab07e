import { PLAY } from '../core/phases.js';
import { type Press, refuse, requirePermits, requireRobot } from './press.js';
import { changeWish, type DeskLock, type DeskState, isOurs, lockWanted, seenOf, wishOf } from './state.js';

function lockOf(state: DeskState, press: Press, reason: string): DeskLock {
  return { id: `${state.wanted.holder}:${press.id}`, by: press.by, reason, atMs: press.nowMs };
}

export function lockAll(state: DeskState, press: Press, reason: string): void {
  state.wanted = { ...state.wanted, lock: lockOf(state, press, reason) };
  for (const { name } of state.robots) seenOf(state, name).unlock = undefined;
}

export function unlockAll(state: DeskState, press: Press): void {
  requirePermits(state);
  const { lock } = state.wanted;
  if (lock === null) return;
  state.wanted = { ...state.wanted, lock: null };
  for (const { name } of state.robots)
    if (wishOf(state.wanted, name).place === 'field' && lockWanted(state.wanted, name) === null)
      lift(state, name, lock.id, press);
}

/** Asks the robot for one second to remove a lock of this desk. */
function lift(state: DeskState, name: string, fallback: string | undefined, { nowMs }: Press): void {
  const seen = seenOf(state, name);
  const observed = seen.match?.lock?.id;
  const lock = isOurs(state.wanted, observed) ? observed : fallback;
  seen.unlockMissed = false;
  seen.unlock = lock === undefined ? undefined : { lock, sinceMs: nowMs };
}

export function lockOne(state: DeskState, press: Press, name: string, reason: string): void {
  requireRobot(state, name);
  changeWish(state, name, { lock: lockOf(state, press, reason) });
  seenOf(state, name).unlock = undefined;
}

export function unlockOne(state: DeskState, press: Press, name: string): void {
  requireRobot(state, name);
  requirePermits(state);
  if (state.wanted.match?.without.includes(name) === true && PLAY.includes(state.wanted.match.phase))
    refuse('The match plays without this robot. End or pause the match first.');
  const { lock: own, place } = wishOf(state.wanted, name);
  if (place === 'field' && state.wanted.lock !== null) refuse('LOCK ALL stands. Unlock the field first.');
  changeWish(state, name, { lock: null });
  lift(state, name, own?.id, press);
}
