import type { Phase } from '../core/phases.js';
import type { LogHead } from '../schemas/log.js';
import type { RobotMatch, RobotStatus } from './answers.js';
import type { MatchPlan } from './view.js';

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

export interface RobotWish {
  readonly place: 'field' | 'pit';
  /** The id of the robot; null before the first contact. */
  readonly id: string | null;
  /** The lock of the tile itself. */
  readonly lock: DeskLock | null;
  /** The newest line of the robot's log that the desk has kept. */
  readonly head: LogHead | null;
}

export interface DeskMatch extends MatchPlan {
  readonly phase: Phase;
  /** The press or the planned instant at which the phase began. What it permits is asked for one second from then on. */
  readonly sinceMs: number;
  readonly endsAtMs: number | null;
  readonly leftS: number | null;
  readonly interrupted: 'auto' | 'teleop' | null;
  readonly why: string | null;
  readonly without: readonly string[];
  /** The name of the folder of its record. */
  readonly record: string;
}

/** What the referees want. The desk keeps this on its disk. Times are Clock milliseconds. */
export interface Wanted {
  readonly holder: string;
  /** Earlier holders whose locks this desk has taken over. */
  readonly former: readonly string[];
  readonly permits: boolean;
  readonly lock: DeskLock | null;
  readonly match: DeskMatch | null;
  /** The robots that were added by a press. */
  readonly added: readonly Robot[];
  readonly robots: Readonly<Record<string, RobotWish>>;
}

export const NEW_WISH: RobotWish = { place: 'field', id: null, lock: null, head: null };

/** What was observed of one robot. It is lost with the process. */
export interface Seen {
  /** When each kind of request was last sent, and how many of it are not answered. */
  readonly sentMs: Map<Kind, number>;
  readonly waiting: Map<Kind, number>;
  /** Whether the robot's own id answered at its address. Only then a token is sent. */
  isChecked: boolean;
  /** When that was. */
  checkedMs: number;
  /** The id that answered; undefined from 0.3.0 and before any answer. */
  shownId: string | null | undefined;
  isOld: boolean;
  /** When the newest answer of any kind came. */
  answeredMs: number;
  status: RobotStatus | undefined;
  statusMs: number;
  match: RobotMatch | undefined;
  /** When the request was sent whose answer `match` is. */
  matchMs: number;
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
  /** How often each kind of request was sent for its present purpose. */
  readonly tries: Map<Kind, { readonly of: string; readonly count: number }>;
  unlock: { readonly lock: string; readonly sinceMs: number } | undefined;
  unlockMissed: boolean;
  joinMs: number;
  /** The press or instant whose phase the robot took. */
  tookMs: number;
  takeoverMs: number;
  revision: number;
  head: LogHead | undefined;
  contradicts: string | undefined;
  /** Whether the lines of the robot's log are asked from the oldest one on. */
  isFromOldest: boolean;
}

export type Kind =
  | 'health'
  | 'status'
  | 'match'
  | 'beat'
  | 'lock'
  | 'unlock'
  | 'stop'
  | 'phase'
  | 'head'
  | 'lines';

export function newSeen(): Seen {
  return {
    sentMs: new Map(),
    waiting: new Map(),
    isChecked: false,
    checkedMs: Number.NEGATIVE_INFINITY,
    shownId: undefined,
    isOld: false,
    answeredMs: Number.NEGATIVE_INFINITY,
    status: undefined,
    statusMs: Number.NEGATIVE_INFINITY,
    match: undefined,
    matchMs: Number.NEGATIVE_INFINITY,
    time: undefined,
    roundTripMs: undefined,
    failure: undefined,
    lockProblem: undefined,
    refusal: undefined,
    unlockedByOthers: undefined,
    locked: undefined,
    tries: new Map(),
    unlock: undefined,
    unlockMissed: false,
    joinMs: Number.NEGATIVE_INFINITY,
    tookMs: Number.NEGATIVE_INFINITY,
    takeoverMs: Number.NEGATIVE_INFINITY,
    revision: 0,
    head: undefined,
    contradicts: undefined,
    isFromOldest: false,
  };
}

/** The whole state of the desk: what is wanted, and what was observed. */
export interface DeskState {
  wanted: Wanted;
  /** All robots, in the order of their tiles. */
  robots: readonly Robot[];
  readonly seen: Map<string, Seen>;
  /** When a referee's page last asked for the status. */
  pageMs: number;
  /** Lines of robots' logs that are to be recorded. */
  lines: RobotLines[];
}

/** Lines that a robot has answered. */
export interface RobotLines {
  readonly robot: string;
  readonly bytes: Buffer;
  /** False if the lines do not follow what was kept before. */
  readonly follows: boolean;
}

/** One request to a robot. */
export interface Ask {
  readonly robot: string;
  readonly kind: Kind;
  readonly method: 'GET' | 'POST';
  readonly path: string;
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
  const seen = newSeen();
  state.seen.set(name, seen);
  return seen;
}

export function wishOf({ robots }: Wanted, name: string): RobotWish {
  // A robot may be called `constructor`.
  return (Object.hasOwn(robots, name) ? robots[name] : undefined) ?? NEW_WISH;
}

export function changeWish(state: DeskState, name: string, to: Partial<RobotWish>): void {
  const { wanted } = state;
  const robots = { ...wanted.robots, [name]: { ...wishOf(wanted, name), ...to } };
  state.wanted = { ...wanted, robots };
}

/** The lock that this robot shall have: that of the field, or that of its tile. */
export function lockWanted(wanted: Wanted, name: string): DeskLock | null {
  const { place, lock } = wishOf(wanted, name);
  return (place === 'field' ? wanted.lock : null) ?? lock;
}

export function isOurs({ holder, former }: Wanted, lockId: string | undefined): boolean {
  return [holder, ...former].some(name => lockId?.startsWith(`${name}:`));
}

export function playsIn(match: DeskMatch | null, name: string): boolean {
  return match?.robots.includes(name) === true && !match.without.includes(name);
}
