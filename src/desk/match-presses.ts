import { RobotError } from '../core/errors.js';
import { isInPhase, lacksOf } from './judge.js';
import { lockOne } from './lock-presses.js';
import { OVER, type Press, refuse, requirePermits } from './press.js';
import { type DeskMatch, type DeskState, playsIn, seenOf, wishOf } from './state.js';
import { paused } from './step.js';
import type { MatchPlan } from './view.js';

export function putMatch(state: DeskState, match: DeskMatch): void {
  state.wanted = { ...state.wanted, match };
}

function theMatch({ wanted }: DeskState, ...phases: readonly string[]): DeskMatch {
  const { match } = wanted;
  if (match === null) return refuse('No match is loaded.');
  if (!phases.includes(match.phase)) return refuse(`The match is in ${match.phase}.`);
  return match;
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
export function recordName(id: string, at: Date): string {
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
