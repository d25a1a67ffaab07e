import { RobotError } from '../core/errors.js';
import { PLAY } from '../core/phases.js';
import * as s from '../schemas/schema.js';
import { isInPhase, isLeft, lacksOfAll, matchOf } from './judge.js';
import { lockOf } from './lock-presses.js';
import { button, ofRobot, type Press, refuse, requirePermits } from './press.js';
import { recordName } from './record.js';
import {
  changeWish,
  type DeskMatch,
  type DeskState,
  OVER,
  paused,
  playsIn,
  putMatch,
  seenOf,
  wishOf,
  withPhase,
} from './state.js';

function theMatch({ wanted: { match } }: DeskState, ...phases: readonly string[]): DeskMatch {
  if (match === null) return refuse('No match is loaded.');
  if (!phases.includes(match.phase)) return refuse(`The match is in ${match.phase}.`);
  return match;
}

export const loadMatch = button({ match: s.text() }, (state, { nowMs, permit, at }, { match: id }) => {
  requirePermits(state);
  const plan = state.plans.find(one => one.id === id);
  if (plan === undefined) throw new RobotError('not-found', { cure: 'FILE has no match of this id.' });
  const { match: former } = state.wanted;
  if (former !== null && !OVER.includes(former.phase))
    refuse(`The match ${former.id} is in ${former.phase}. End it first.`);
  const absent = absentOf(state, plan.robots);
  if (absent.length > 0) refuse(`No robot is called ${absent.join(', ')}. Add it, or correct FILE.`);
  const inPit = plan.robots.filter(name => wishOf(state.wanted, name).place === 'pit');
  if (inPit.length > 0) refuse(`${inPit.join(', ')}: in the pit. Move it to the field first.`);
  // A fault of a log belongs to the record in which it was noted.
  for (const name of plan.robots) {
    changeWish(state, name, { logFault: null });
    seenOf(state, name).claimedMs = nowMs;
  }
  // Robots that are not in the new match are released from the old one.
  for (const name of former?.robots ?? []) {
    seenOf(state, name).join = permit;
    // A robot may still be in a match that is longer ago.
    if (!isLeft(state, name)) changeWish(state, name, { left: former?.id ?? null });
  }
  const match = { ...plan, without: [], record: recordName(plan.id, at) };
  putMatch(state, withPhase(match, 'pre', permit));
});

/** The names that no robot has. A robot may be added after FILE has named it. */
export function absentOf({ robots }: DeskState, names: readonly string[]): readonly string[] {
  return names.filter(name => !robots.some(robot => robot.name === name));
}

/** Starts the phase for so many seconds, if nothing lacks. */
function play(
  state: DeskState,
  { nowMs, permit }: Press,
  match: DeskMatch,
  phase: 'auto' | 'teleop',
  seconds: number,
): void {
  requirePermits(state);
  if (state.wanted.lock !== null) refuse('LOCK ALL stands. Unlock first.');
  if (!match.robots.some(name => playsIn(match, name))) refuse('No robot is left in the match.');
  const lacks = lacksOfAll(state, nowMs);
  if (lacks.length > 0) refuse(lacks.map(({ robot, text }) => `${robot}: ${text}`).join(' '));
  state.pageMs = nowMs;
  putMatch(state, withPhase(match, phase, permit, { endsAtMs: nowMs + 1000 * seconds }));
}

export const startMatch = button({}, (state, press) => {
  const match = theMatch(state, 'pre');
  const { autoS, teleopS } = match;
  play(state, press, match, autoS > 0 ? 'auto' : 'teleop', autoS > 0 ? autoS : teleopS);
});

export const pauseMatch = button({}, (state, { nowMs }) => {
  putMatch(state, paused(theMatch(state, 'auto', 'teleop'), nowMs, null));
});

const played = {
  phase: s.optional(s.oneOf(['auto', 'teleop'])),
  seconds: s.optional({ ...s.number(), minimum: 0, maximum: 3600 }),
};

/** Phase and seconds are those of the pause, unless the referee gives others. */
export const goOn = button(played, (state, press, given) => {
  const match = theMatch(state, 'pause');
  const { phase = match.interrupted, seconds = match.leftS } = given;
  if (phase === null || seconds === null)
    refuse('The desk does not know what the pause interrupted: choose phase and seconds.');
  if (seconds <= 0) refuse('No time is left. End the match.');
  play(state, press, match, phase, seconds);
});

export const endMatch = button({}, (state, { permit }) => {
  const match = theMatch(state, 'pre', 'auto', 'teleop', 'pause');
  putMatch(state, withPhase(match, 'ended', permit));
});

export const releaseMatch = button({}, (state, { permit }) => {
  requirePermits(state);
  // A released match still shows why it ended.
  putMatch(state, { ...theMatch(state, 'pre', 'ended', 'none'), phase: 'none', ...permit });
});

export const playWithout = button(ofRobot, (state, press, { robot }) => {
  const match = theMatch(state, 'pre', 'pause', 'auto', 'teleop');
  if (!match.robots.includes(robot)) return;
  const lock = lockOf(state, press, 'out', `the match plays without ${robot}`);
  changeWish(state, robot, { lock });
  if (playsIn(match, robot)) putMatch(state, { ...match, without: [...match.without, robot] });
});

export const joinMatch = button(ofRobot, (state, { nowMs, permit }, { robot }) => {
  const match = matchOf(state, robot);
  requirePermits(state);
  if (match === null || !playsIn(match, robot)) return refuse(`${robot} is not in the match.`);
  if (match.phase !== 'none' && !PLAY.includes(match.phase)) refuse(`The match is in ${match.phase}.`);
  const seen = seenOf(state, robot);
  if (isInPhase(match, seen)) return;
  if (seen.match?.id !== match.id)
    refuse(`${robot} has not got this match. Play without it, or end and load again.`);
  seen.join = permit;
  // The desk that had the robot last may have ended its match and be gone.
  if (match.phase === 'none') seen.claimedMs = nowMs;
});
