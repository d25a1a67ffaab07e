import type { Phase } from '../core/phases.js';
import type { LogHead } from '../schemas/log.js';
import type { RobotMatch, RobotStatus } from './answers.js';

const LONG_AGO = Number.NEGATIVE_INFINITY;

export interface MatchPlan {
  readonly id: string;
  readonly robots: readonly string[];
  readonly autoS: number;
  readonly teleopS: number;
}

/** A robot that the desk asks. */
export interface Robot {
  readonly name: string;
  /** An URL without a path, such as http://red-1.local:8080. */
  readonly address: string;
  readonly token: string;
}

export interface DeskLock {
  readonly id: string;
  readonly by: string;
  readonly reason: string;
  /** The time of the press, in Clock milliseconds. */
  readonly atMs: number;
}

/** `contradicts`: the log was cut, rewritten, or is another one. `lines-missing`: it may just have dropped its oldest lines. */
export interface LogFault {
  readonly what: 'contradicts' | 'lines-missing';
  readonly why: string;
}

/** What is wanted of one robot. It begins like this. */
export class RobotWish {
  readonly place: 'field' | 'pit' = 'field';
  /** The id of the robot; null before the first contact. */
  readonly id: string | null = null;
  /** The lock of the tile itself. */
  readonly lock: DeskLock | null = null;
  /** The newest line of the robot's log that the desk has kept. */
  readonly head: LogHead | null = null;
  /** Why the lines of the robot's log do not follow those that were kept before, until Load of its next match. */
  readonly logFault: LogFault | null = null;
  /** The id of the match in which Load of another match left the robot. */
  readonly left: string | null = null;
}

/** What a press or a planned instant permits: from when on, and until when robots are asked for it (Clock milliseconds). */
export interface Permit {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** What permits something is asked for this long after its press. */
export const PERMIT_MS = 1000;

export function permitFrom(sinceMs: number): Permit {
  return { sinceMs, untilMs: sinceMs + PERMIT_MS };
}

/** What belongs to this time, and permits nothing to any robot. */
export function permitsNothing(sinceMs: number): Permit {
  return { sinceMs, untilMs: sinceMs };
}

export const NO_PERMIT = permitsNothing(LONG_AGO);

/** The phase of a match, with what belongs to this phase alone. */
interface MatchPhase extends Permit {
  /** `none`: released. */
  readonly phase: Phase;
  /** Null if no time runs. */
  readonly endsAtMs: number | null;
  /** In a pause: the interrupted phase, and its seconds left. */
  readonly leftS: number | null;
  readonly interrupted: 'auto' | 'teleop' | null;
  /** Whether the clock began teleop, and not a press. */
  readonly isPlanned: boolean;
  /** Why the match pauses or ended, if nobody pressed. */
  readonly why: string | null;
}

export interface DeskMatch extends MatchPlan, MatchPhase {
  /** The robots that do not play, because a referee started without them. */
  readonly without: readonly string[];
  /** The name of the folder of its record. */
  readonly record: string;
}

/** What the referees want. The desk keeps this on its disk. Times are Clock milliseconds. */
export interface Wanted {
  readonly holder: string;
  /** The ids of other desks' locks that this desk has taken over. */
  readonly former: readonly string[];
  /** False if tokens or state were damaged: the desk permits nothing until Take over is pressed. */
  readonly permits: boolean;
  readonly lock: DeskLock | null;
  readonly match: DeskMatch | null;
  /** The robots that were added by a press. */
  readonly added: readonly Robot[];
  readonly robots: Readonly<Record<string, RobotWish>>;
}

/** Phases in which no match is under way. */
export const OVER: readonly Phase[] = ['none', 'ended', 'pre'];

/** What was observed of one robot. It is lost with the process. */
export class Seen {
  readonly sent = new Map<Kind, Sent>();
  /** Whether the robot's own id answered at its address. Only then a token is sent. */
  isChecked = false;
  /** The time of the last answer that showed the robot's own id. */
  checkedMs = LONG_AGO;
  /** The id that answered; undefined from 0.3.0 and before any answer. */
  shownId: string | null | undefined;
  isOld = false;
  /** When the newest answer of any kind came. */
  answeredMs = LONG_AGO;
  status: RobotStatus | undefined;
  statusMs = LONG_AGO;
  match: RobotMatch | undefined;
  /** When the request was sent whose answer `match` is. */
  matchMs = LONG_AGO;
  /** The desk whose beat the robot accepted last, and the earliest time at which that may have been; -Infinity if unknown. */
  lastLease: { readonly holder: string; readonly beatMs: number } | undefined;
  /** The robot's clock: `t` milliseconds is the least that it showed at `atMs`. */
  time: { readonly tMs: number; readonly atMs: number } | undefined;
  roundTripMs: number | undefined;
  /** Why the last request failed; undefined after a good answer. */
  failure: string | undefined;
  /** Why the last lock was not answered with 200. */
  lockProblem: string | undefined;
  /** Why the token was refused. */
  refusal: { readonly code: string; readonly detail: string } | undefined;
  /** The wanted lock that the robot had, and that others have lifted. */
  unlockedByOthers: string | undefined;
  /** The lock that answered 200, and when its request was sent. */
  locked: { readonly id: string; readonly sentMs: number } | undefined;
  unlock: { readonly lock: string; readonly untilMs: number } | undefined;
  join = NO_PERMIT;
  /** The press or instant whose phase the robot took. */
  tookMs = LONG_AGO;
  takeover = NO_PERMIT;
  /** The newest press of Load or Take over for this robot, or of Join after the release. */
  claimedMs = LONG_AGO;
  revision = 0;
  head: LogHead | undefined;
  /** When the request was sent whose answer had `head`. */
  headMs = LONG_AGO;
  /** Whether the lines of the robot's log are asked from the oldest one on. */
  isFromOldest = false;
  /** Whether the robot showed the head, and no line up to it was kept: the next lines continue nothing. */
  isHeadAdopted = false;
  /** Whether the disk has not kept the last lines yet. No more are asked for until then. */
  isKeeping = false;
}

/** The requests of one kind to one robot. */
export interface Sent {
  /** When the newest one was sent. */
  readonly atMs: number;
  /** What it asked for, and how often that was asked for. */
  readonly of: string | undefined;
  readonly count: number;
  /** How many are not answered. */
  waiting: number;
}

/** What presses and planned instants ask robots for. */
export const ACTS: readonly Kind[] = ['lock', 'unlock', 'stop', 'phase'];

export type Kind = 'health' | 'status' | 'match' | 'beat' | 'lock' | 'unlock' | 'stop' | 'phase' | 'lines';

/** The whole state of the desk: what is wanted, and what was observed. */
export interface DeskState {
  wanted: Wanted;
  /** All robots, in the order of their tiles. */
  robots: readonly Robot[];
  readonly seen: Map<string, Seen>;
  /** When a referee's page last asked for the status. */
  pageMs: number;
  /** The matches that can be loaded. */
  readonly plans: readonly MatchPlan[];
}

/** One request to a robot. */
export interface Ask {
  readonly robot: string;
  readonly kind: Kind;
  readonly path: string;
  /** A request with a body is a POST, one without is a GET. */
  readonly body?: object;
  /** Whether the request needs a connection of its own. */
  readonly isFresh: boolean;
  readonly withToken: boolean;
  readonly sentMs: number;
  /** What the request asks for: the id of a lock, or the instant of a phase. */
  readonly of?: string;
}

export function seenOf(state: DeskState, name: string): Seen {
  const known = state.seen.get(name);
  if (known !== undefined) return known;
  const seen = new Seen();
  state.seen.set(name, seen);
  return seen;
}

export function wishOf({ robots }: Wanted, name: string): RobotWish {
  // A robot may be called `constructor`. A desk.json of an earlier build lacks members.
  return { ...new RobotWish(), ...(Object.hasOwn(robots, name) ? robots[name] : undefined) };
}

export function changeWish(state: DeskState, name: string, to: Partial<RobotWish>): void {
  const { wanted } = state;
  const robots = { ...wanted.robots, [name]: { ...wishOf(wanted, name), ...to } };
  state.wanted = { ...wanted, robots };
}

export function putMatch(state: DeskState, match: DeskMatch): void {
  state.wanted = { ...state.wanted, match };
}

/** The match in another phase. Nothing of the phase before remains. */
export function withPhase(
  match: Omit<DeskMatch, keyof MatchPhase>,
  phase: Phase,
  { sinceMs, untilMs }: Permit,
  own: Partial<Omit<MatchPhase, keyof Permit>> = {},
): DeskMatch {
  const nothing = { endsAtMs: null, leftS: null, interrupted: null, isPlanned: false, why: null };
  return { ...match, ...nothing, ...own, phase, sinceMs, untilMs };
}

/** The pause of a running match, which keeps its clock. */
export function paused(match: DeskMatch, nowMs: number, why: string | null): DeskMatch {
  const { phase, endsAtMs } = match;
  const interrupted = phase === 'auto' ? 'auto' : 'teleop';
  const leftS = Math.max(0, ((endsAtMs ?? nowMs) - nowMs) / 1000);
  return withPhase(match, 'pause', permitFrom(nowMs), { leftS, interrupted, why });
}

/** The names of the robots in the field, in the order of their tiles. */
export function inField({ robots, wanted }: DeskState): readonly string[] {
  return robots.map(({ name }) => name).filter(name => wishOf(wanted, name).place === 'field');
}

/** The lock that this robot shall have: that of the field, or that of its tile. */
export function lockWanted(wanted: Wanted, name: string): DeskLock | null {
  const { place, lock } = wishOf(wanted, name);
  return (place === 'field' ? wanted.lock : null) ?? lock;
}

export function isOurs({ holder, former }: Wanted, lockId: string | undefined): boolean {
  return lockId !== undefined && (lockId.startsWith(`${holder}:`) || former.includes(lockId));
}

export function playsIn(match: DeskMatch | null, name: string): boolean {
  return match?.robots.includes(name) === true && !match.without.includes(name);
}
