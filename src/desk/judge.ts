import { type Phase, PLAY } from '../core/phases.js';
import { UNIT_LIST } from '../core/units.js';
import type { RobotMatch } from './answers.js';
import {
  type DeskMatch,
  type DeskState,
  isOurs,
  lockWanted,
  NO_PERMIT,
  PERMIT_MS,
  type Permit,
  playsIn,
  type Seen,
  seenOf,
  wishOf,
  withPhase,
} from './state.js';

/** Data that is older counts as not heard. */
export const HEARD_MS = 1500;
/** How long an answer proves that the robot is locked. Then the desk asks again. */
const PROOF_MS = 5000;
/** How long no other desk gets the lease. A robot's default is that it stops after this time without a beat. */
export const LEASE_MS = 3000;

/** How much longer a phase lasts on the robot than on the desk: `auto` continues until the desk has begun teleop. */
export function spareMs(phase: Phase, teleopS: number): number {
  return phase === 'auto' && teleopS > 0 ? 1000 : 0;
}

export function isHeard(seen: Seen, nowMs: number): boolean {
  return nowMs - seen.statusMs <= HEARD_MS;
}

/** Whether nothing moves and nothing is lit, as the newest status shows. */
export function isAtRest({ status }: Seen): boolean {
  if (status === undefined) return false;
  const torque = UNIT_LIST.map(({ name }) => status[name].torque);
  return (
    status.stopped && status.laser.light === 'dark' && torque.every(one => one === 'off' || one === 'silent')
  );
}

/** Whether the robot has proven lately that it is locked as the desk wants. */
export function isLocked(state: DeskState, name: string, nowMs: number): boolean {
  const lock = lockWanted(state.wanted, name);
  const seen = seenOf(state, name);
  if (lock === null) return false;
  const answeredMs = seen.locked?.id === lock.id ? seen.locked.sentMs : Number.NEGATIVE_INFINITY;
  // What was asked later counts.
  const isByStatus = seen.statusMs >= lock.atMs && seen.statusMs > answeredMs;
  const provenMs = isByStatus ? seen.statusMs : answeredMs;
  if (nowMs - provenMs > PROOF_MS || (seen.matchMs > provenMs && seen.match?.lock === null)) return false;
  return !isByStatus || (seen.status?.match.lock !== null && isAtRest(seen));
}

/** Whether others have locked the robot. The desk does not lock over that lock. */
export function isLockedByOthers({ wanted }: DeskState, { match }: Seen): boolean {
  return match !== undefined && match.lock !== null && !isOurs(wanted, match.lock.id);
}

export function isLeaseOurs({ wanted }: DeskState, { match }: Seen): boolean {
  return match?.lease?.holder === wanted.holder;
}

/** Whether the robot is still in a match that has ended, or in the one in which Load of another one left it. */
export function isLeft(state: DeskState, name: string): boolean {
  const { match } = seenOf(state, name);
  const { left } = wishOf(state.wanted, name);
  if (match === undefined || match.id === null) return false;
  return match.phase === 'ended' || (match.id === left && match.phase !== 'none');
}

/** The match that this desk wants of the robot: the loaded one, or for a robot that was left in another one, the end of that or the release from it. */
export function matchOf(state: DeskState, name: string): DeskMatch | null {
  const { match } = state.wanted;
  const own = match?.robots.includes(name) ? match : null;
  const seen = seenOf(state, name);
  const id = seen.match?.id ?? null;
  // Nobody can stop the clock of a match that is no longer loaded, except by its end.
  if (
    id !== null &&
    id !== match?.id &&
    id === wishOf(state.wanted, name).left &&
    isPlaying(seen.match, id) &&
    !isTaken(state, seen)
  )
    return leftMatch(id, name, 'ended');
  // A released match wants nothing of a robot that is in another one by now.
  if (own !== null && (own.phase !== 'none' || own.id === id)) return own;
  // The desk that had the robot last may be dead. A robot that has restarted has no lease.
  const lease = seen.match?.lease ?? null;
  const isAnothers = isTaken(state, seen) && lease !== null && lease.expired !== true;
  if (id === null || !isLeft(state, name) || isAnothers) return own;
  return leftMatch(id, name, 'none');
}

/** A match that is not loaded any more, with this robot alone. */
function leftMatch(id: string, name: string, phase: 'ended' | 'none'): DeskMatch {
  const match = { id, robots: [name], autoS: 0, teleopS: 0, without: [], record: '' };
  return withPhase(match, phase, NO_PERMIT);
}

/** Whether this desk pauses or ends this match of the robot: it has the lease, or that was not confirmed yet. */
export function isToRestrict(state: DeskState, match: DeskMatch, seen: Seen): boolean {
  if (seen.match === undefined || isTaken(state, seen)) return false;
  if (isLeaseOurs(state, seen)) return true;
  // A robot that has restarted has no lease, and may have lost what it confirmed.
  const mayHaveMissed = seen.tookMs < match.sinceMs || seen.match.lease === null;
  return seen.match.id === match.id && mayHaveMissed;
}

/**
 * Whether another desk had the robot last. Then this desk gives it neither beat nor phase until a press of Load, Take over or Join.
 * The other desk may notice such a press late.
 */
export function isTaken({ wanted }: DeskState, { lastLease, claimedMs }: Seen): boolean {
  if (lastLease === undefined || lastLease.holder === wanted.holder) return false;
  return !Number.isFinite(lastLease.beatMs) || lastLease.beatMs > claimedMs + PERMIT_MS;
}

/** Whether the robot plays the match of this id. */
export function isPlaying(match: RobotMatch | undefined, id: string): boolean {
  return match?.id === id && PLAY.includes(match.phase);
}

/** Whether the robot is in the phase of this match. */
export function isInPhase(wanted: DeskMatch | null, { match }: Seen): boolean {
  return match !== undefined && match.id === wanted?.id && match.phase === wanted?.phase;
}

/** What permits the phase to this robot: a press, a planned instant, or Join. */
export function permitOf(match: DeskMatch, { join }: Seen): Permit {
  return join.sinceMs > match.sinceMs ? join : match;
}

/** What a robot missed, although a press or the clock permitted it. */
export function missedBy(
  state: DeskState,
  name: string,
  nowMs: number,
): 'NOT STARTED' | 'NOT RELEASED' | null {
  const match = matchOf(state, name);
  const seen = seenOf(state, name);
  if (match === null || !playsIn(match, name) || isInPhase(match, seen)) return null;
  if (nowMs < permitOf(match, seen).untilMs) return null;
  if (PLAY.includes(match.phase)) return 'NOT STARTED';
  const isOfMatch = seen.match?.id === match.id;
  return match.phase === 'none' && isOfMatch ? 'NOT RELEASED' : null;
}

/** The texts that were found, each with a full stop, which it may have already. */
const texts = (found: readonly (string | false | null | undefined)[]): readonly string[] =>
  found.flatMap(text => (text ? [text.trim().replace(/[^.!?]$/, '$&.')] : []));

/** What is wrong with a robot and its cure, the worst first. */
export function problemsOf(state: DeskState, name: string, nowMs: number): readonly string[] {
  const { logFault } = wishOf(state.wanted, name);
  const missed = playsOn(state, name, nowMs);
  const words = { contradicts: 'CONTRADICTS', 'lines-missing': 'LINES ARE MISSING' };
  return texts([
    logFault && `${words[logFault.what]}: ${logFault.why} The record has what it sends.`,
    missed && `${missed}: it plays on. Press LOCK, or use the button on the robot`,
    ...faultsOf(state, name, nowMs),
  ]);
}

/** What a robot that still plays a second after the pause or end of its match has missed. */
function playsOn(state: DeskState, name: string, nowMs: number): 'NOT PAUSED' | 'NOT ENDED' | undefined {
  const match = matchOf(state, name);
  const seen = seenOf(state, name);
  if (match === null || seen.matchMs < permitOf(match, seen).untilMs || !isHeard(seen, nowMs))
    return undefined;
  // The match of another desk is not for this one to end.
  if (!isPlaying(seen.match, match.id) || !isToRestrict(state, match, seen)) return undefined;
  if (match.phase === 'pause') return 'NOT PAUSED';
  return match.phase === 'ended' || match.phase === 'none' ? 'NOT ENDED' : undefined;
}

/** Another id that answers at the robot's address. */
export function otherIdOf(state: DeskState, name: string): string | null {
  const { shownId = null } = seenOf(state, name);
  const { id } = wishOf(state.wanted, name);
  return id === null || shownId === id ? null : shownId;
}

/** What is wrong with a robot besides its log, which keeps nobody from playing. */
function faultsOf(state: DeskState, name: string, nowMs: number): readonly string[] {
  const seen = seenOf(state, name);
  const { status, shownId, failure } = seen;
  const { id } = wishOf(state.wanted, name);
  const twin = twinOf(state, name);
  const lock = lockWanted(state.wanted, name);
  return texts([
    otherIdOf(state, name) !== null &&
      'Another robot answers at this address: no token is sent. If it is the right one, accept its new id',
    twin &&
      `${twin} has the same id, so neither starts. Remove robot-id from one state folder and restart it`,
    shownId === undefined &&
      id !== null &&
      !seen.isChecked &&
      seen.answeredMs > Number.NEGATIVE_INFINITY &&
      failure === undefined &&
      'What answers at this address has no id, as 0.3.0 or another device: no token is sent. Install 0.4.0 or newer',
    shownId === null && 'It cannot read its own id: check its disk. LOCK only stops it',
    lock !== null &&
      seen.unlockedByOthers === lock.id &&
      'Somebody else unlocked it while the lock of the desk stands: it is locked again',
    lock === null &&
      seen.unlock === undefined &&
      isOurs(state.wanted, seen.match?.lock?.id) &&
      'It has a lock of this desk that was lifted: press Unlock on this tile again',
    seen.refusal && `${seen.refusal.detail} LOCK only stops it`,
    // A robot that refuses the token answers.
    !isHeard(seen, nowMs) &&
      (seen.refusal === undefined || nowMs - seen.answeredMs > HEARD_MS) &&
      `Not heard. ${failure ?? 'Check its power and the network'}`,
    seen.isOld && 'Its version is too old for a match: install 0.4.0 or newer. It can be locked',
    status?.laser.light === 'fault' && 'THE LASER MAY BE LIT: cut its supply',
    ...UNIT_LIST.flatMap(({ name: unit }) => {
      const { online = true, problem, faults = [] } = status?.[unit] ?? {};
      return [
        !online && `The ${unit} is offline. ${problem?.detail ?? ''}`,
        faults.length > 0 && `The ${unit} shows ${faults.join(', ')}`,
      ];
    }),
    status?.access.state === 'open' && 'It is open to everybody: make tokens with sudo trunnion token add',
    status?.access.state === 'unavailable' && 'Its list of tokens cannot be read. Run trunnion doctor on it',
    status?.storage.ok === false && `Its disk fails. ${status.storage.cure ?? ''}`,
    status?.log.ok === false && `Its log does not reach the disk. ${status.log.cure ?? ''}`,
  ]);
}

/** The name of another robot that answers with the same id. */
function twinOf(state: DeskState, name: string): string | undefined {
  const id = seenOf(state, name).shownId;
  if (typeof id !== 'string') return undefined;
  return state.robots.find(other => other.name !== name && seenOf(state, other.name).shownId === id)?.name;
}

/** What lacks before this robot may play, in words. */
function lacksOf(state: DeskState, name: string, nowMs: number): readonly string[] {
  const seen = seenOf(state, name);
  const { status, match } = seen;
  const faults = faultsOf(state, name, nowMs);
  if (!isHeard(seen, nowMs) || status === undefined || match === undefined)
    return faults.length > 0 ? faults.slice(0, 1) : ['Not heard.'];
  return texts([
    ...faults,
    wishOf(state.wanted, name).place === 'pit' && 'It is in the pit: move it to the field',
    match.lock !== null && `Locked by ${match.lock.by}: ${match.lock.reason}`,
    !isLeaseOurs(state, seen) &&
      (isTaken(state, seen)
        ? `The desk ${seen.lastLease?.holder} has it, or had it last: take it over`
        : 'It has no beat of this desk yet'),
    !isInPhase(state.wanted.match, seen) &&
      `It is in ${match.phase}, and not yet in ${state.wanted.match?.phase} of this match`,
    ...UNIT_LIST.map(
      ({ name: unit }) =>
        (status[unit].gains.trial !== undefined || !status[unit].gains.applied) &&
        `The ${unit} does not run its saved gains`,
    ),
    status.laser.light !== 'dark' && 'Its laser is not proven dark',
    !isAtRest(seen) && 'It is not stopped, or its motors have torque',
    !match.recorded && 'Its disk does not have the newest phase yet',
  ]);
}

/** What lacks before the match may start or go on, robot by robot. Empty if nothing lacks. */
export function lacksOfAll(state: DeskState, nowMs: number) {
  const { match } = state.wanted;
  const plays = match?.robots.filter(name => playsIn(match, name)) ?? [];
  return plays.flatMap(robot => lacksOf(state, robot, nowMs).map(text => ({ robot, text })));
}
