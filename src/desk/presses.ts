import { RobotError } from '../core/errors.js';
import { PLAY } from '../core/phases.js';
import { isInPhase, lacksOf } from './judge.js';
import { robotOf } from './link.js';
import {
  changeWish,
  type DeskLock,
  type DeskMatch,
  type DeskState,
  isOurs,
  lockWanted,
  playsIn,
  seenOf,
  wishOf,
} from './state.js';
import { paused } from './step.js';
import type { MatchPlan } from './view.js';

/** A press of a caller. */
export interface Press {
  readonly id: string;
  readonly by: string;
  readonly nowMs: number;
  /** Wall time, for names of records. */
  readonly at: Date;
}

const OVER = ['none', 'ended', 'pre'];

function refuse(reason: string): never {
  throw new RobotError('not-ready', { reason });
}

function putMatch(state: DeskState, match: DeskMatch): void {
  state.wanted = { ...state.wanted, match };
}

function theMatch({ wanted }: DeskState, ...phases: readonly string[]): DeskMatch {
  const { match } = wanted;
  if (match === null) return refuse('No match is loaded.');
  if (!phases.includes(match.phase)) return refuse(`The match is in ${match.phase}.`);
  return match;
}

function requireRobot(state: DeskState, name: string): void {
  if (!state.robots.some(robot => robot.name === name))
    throw new RobotError('not-found', { cure: `No robot is called ${name}.` });
}

/** After a loss of its state the desk permits nothing. */
function requirePermits({ wanted }: DeskState): void {
  if (!wanted.permits) refuse('The desk has lost its state. Look at the field, then press Take over.');
}

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

export function loadMatch(state: DeskState, { nowMs, at }: Press, plan: MatchPlan | undefined): void {
  requirePermits(state);
  if (plan === undefined) throw new RobotError('not-found', { cure: 'FILE has no match of this id.' });
  const { match } = state.wanted;
  if (match !== null && !OVER.includes(match.phase))
    refuse(`The match ${match.id} is in ${match.phase}. End it first.`);
  const inPit = plan.robots.filter(name => wishOf(state.wanted, name).place === 'pit');
  if (inPit.length > 0) refuse(`${inPit.join(', ')}: in the pit. Move it to the field first.`);
  putMatch(state, {
    ...plan,
    phase: 'pre',
    sinceMs: nowMs,
    endsAtMs: null,
    leftS: null,
    interrupted: null,
    why: null,
    without: [],
    record: recordName(plan.id, at),
  });
}

/** A name under which the folder of a record sorts by time. */
function recordName(id: string, at: Date): string {
  return `${encodeURIComponent(id)}-${at.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;
}

function requireReady(state: DeskState, match: DeskMatch, nowMs: number): void {
  requirePermits(state);
  if (state.wanted.lock !== null) refuse('LOCK ALL stands. Unlock first.');
  const plays = match.robots.filter(name => playsIn(match, name));
  if (plays.length === 0) refuse('No robot is left in the match.');
  const lacks = plays.flatMap(name => lacksOf(state, name, nowMs).map(text => `${name}: ${text}`));
  if (lacks.length > 0) refuse(lacks.join(' '));
}

export function startMatch(state: DeskState, { nowMs }: Press): void {
  const match = theMatch(state, 'pre');
  requireReady(state, match, nowMs);
  const phase = match.autoS > 0 ? 'auto' : 'teleop';
  const seconds = phase === 'auto' ? match.autoS : match.teleopS;
  state.pageMs = nowMs;
  putMatch(state, { ...match, phase, sinceMs: nowMs, endsAtMs: nowMs + 1000 * seconds, why: null });
}

export function pauseMatch(state: DeskState, { nowMs }: Press): void {
  const match = theMatch(state, 'auto', 'teleop');
  putMatch(state, { ...match, ...paused(match, nowMs, null) });
}

export function goOn(state: DeskState, { nowMs }: Press): void {
  const match = theMatch(state, 'pause');
  requireReady(state, match, nowMs);
  const { interrupted, leftS } = match;
  if (interrupted === null || leftS === null || leftS <= 0) refuse('No time is left. End the match.');
  state.pageMs = nowMs;
  putMatch(state, {
    ...match,
    phase: interrupted,
    sinceMs: nowMs,
    endsAtMs: nowMs + 1000 * leftS,
    leftS: null,
    interrupted: null,
    why: null,
  });
}

export function endMatch(state: DeskState, { nowMs }: Press): void {
  const match = theMatch(state, 'pre', 'auto', 'teleop', 'pause');
  putMatch(state, {
    ...match,
    phase: 'ended',
    sinceMs: nowMs,
    endsAtMs: null,
    leftS: null,
    interrupted: null,
    why: null,
  });
}

export function releaseMatch(state: DeskState, { nowMs }: Press): void {
  requirePermits(state);
  const match = theMatch(state, 'pre', 'ended', 'none');
  putMatch(state, { ...match, phase: 'none', sinceMs: nowMs });
}

export function playWithout(state: DeskState, press: Press, name: string): void {
  const match = theMatch(state, 'pre', 'pause', 'auto', 'teleop');
  if (!playsIn(match, name)) return;
  lockOne(state, press, name, `the match plays without ${name}`);
  putMatch(state, { ...match, without: [...match.without, name] });
}

export function joinMatch(state: DeskState, { nowMs }: Press, name: string): void {
  const match = theMatch(state, 'auto', 'teleop');
  requirePermits(state);
  if (!playsIn(match, name)) refuse(`${name} is not in the match.`);
  const seen = seenOf(state, name);
  if (isInPhase(state, seen)) return;
  if (seen.match?.id !== match.id)
    refuse(`${name} has not got this match. Play without it, or end and load again.`);
  seen.joinMs = nowMs;
}

export function placeRobot(state: DeskState, name: string, place: 'field' | 'pit'): void {
  requireRobot(state, name);
  const { match } = state.wanted;
  if (place === 'pit' && match?.robots.includes(name) === true && !['none', 'ended'].includes(match.phase))
    refuse(`The match ${match.id} is in ${match.phase}. End it first.`);
  changeWish(state, name, { place });
}

export function acceptRobot(state: DeskState, name: string, id: string): void {
  requireRobot(state, name);
  const seen = seenOf(state, name);
  if (seen.shownId !== id) refuse('This id does not answer at the address.');
  changeWish(state, name, { id, head: null });
  seen.contradicts = undefined;
}

export function addRobot(state: DeskState, name: string, link: string): void {
  if (state.robots.some(robot => robot.name === name)) refuse(`There is a robot called ${name}.`);
  const robot = robotOf(name, link);
  if (robot === undefined) refuse('This is not the link that token add prints: http://ADDRESS/#token=TOKEN.');
  state.wanted = { ...state.wanted, added: [...state.wanted.added, robot] };
  state.robots = [...state.robots, robot];
}

export function removeRobot(state: DeskState, name: string): void {
  const { wanted } = state;
  if (!wanted.added.some(robot => robot.name === name))
    refuse(`${name} is not a robot that was added here. Edit FILE.`);
  if (wanted.match?.robots.includes(name) === true && !OVER.includes(wanted.match.phase))
    refuse('It plays. End the match first.');
  const { [name]: _, ...robots } = wanted.robots;
  state.wanted = { ...wanted, robots, added: wanted.added.filter(robot => robot.name !== name) };
  state.robots = state.robots.filter(robot => robot.name !== name);
  state.seen.delete(name);
}

/** Takes over what the robots report: the match of another desk, and its locks. */
export function takeOver(state: DeskState, { nowMs, at }: Press, plans: readonly MatchPlan[]): void {
  const field = state.robots.filter(({ name }) => wishOf(state.wanted, name).place === 'field');
  const reports = field.flatMap(({ name }) => {
    const seen = seenOf(state, name);
    return seen.match === undefined ? [] : [{ name, seen, match: seen.match }];
  });
  const holders = reports.flatMap(({ match }) => [
    match.lease?.holder,
    /^(desk-[^:]+):/.exec(match.lock?.id ?? '')?.[1],
  ]);
  const former = [...new Set([...state.wanted.former, ...holders.filter(name => name !== undefined)])];
  state.wanted = { ...state.wanted, permits: true, former };
  for (const { seen } of reports) seen.takeoverMs = nowMs;
  const running = reports.filter(({ match }) => !['none', 'ended'].includes(match.phase));
  const id = mostFrequent(running.map(({ match }) => match.id ?? ''));
  const known = state.wanted.match;
  if (id === undefined || id === '' || (id === known?.id && !OVER.includes(known.phase))) return;
  const own = running.filter(({ match }) => match.id === id);
  const phase = mostFrequent(own.map(({ match }) => match.phase)) ?? 'pause';
  const plan = plans.find(one => one.id === id) ?? {
    id,
    robots: own.map(({ name }) => name),
    autoS: 0,
    teleopS: 0,
  };
  // The robot's own clock says when the phase ends. `auto` ends on the robot a second after the plan.
  const ends = own.flatMap(({ seen, match }) =>
    match.phase === phase && match.endsAtT !== null && seen.time !== undefined
      ? [
          1000 * match.endsAtT -
            seen.time.tMs +
            seen.time.atMs -
            (phase === 'auto' && plan.teleopS > 0 ? 1000 : 0),
        ]
      : [],
  );
  const isPlay = PLAY.includes(phase);
  putMatch(state, {
    ...plan,
    phase: isPlay && ends.length === 0 ? 'pause' : phase,
    sinceMs: nowMs,
    endsAtMs: isPlay && ends.length > 0 ? Math.min(...ends) : null,
    leftS: null,
    interrupted: null,
    why: null,
    without: plan.robots.filter(name => !own.some(one => one.name === name)),
    record: recordName(id, at),
  });
  state.pageMs = nowMs;
}

function mostFrequent<T extends string>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one)[0]?.[0];
}
