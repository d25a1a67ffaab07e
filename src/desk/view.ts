import type { Phase } from '../core/phases.js';
import type { Mode } from '../core/units.js';
import type { Torque } from '../schemas/status.js';

/** Presses that make robots safer. They are never too late, and a page sends them until the desk answers. */
export const RESTRICTING: readonly string[] = ['lock', 'robots/lock', 'match/pause', 'match/end'];

/** The body of GET /api/status of the desk, and of the answer to each press. Times `…T` are seconds, as `t`. */
export interface DeskView {
  readonly version: string;
  /** Now, in monotonic seconds of the desk. */
  readonly t: number;
  /** The name under which this desk holds the leases of robots. */
  readonly holder: string;
  /** False if tokens or state were damaged: the desk permits nothing until Take over is pressed. */
  readonly permits: boolean;
  /** What is wrong with the desk itself, with the cure. */
  readonly problems: readonly string[];
  /** False if what happens does not reach the desk's disk. */
  readonly recorded: boolean;
  /** LOCK ALL stands. Null if it does not. */
  readonly lock: {
    readonly id: string;
    readonly by: string;
    readonly reason: string;
    readonly atT: number;
    readonly confirmed: number;
    readonly of: number;
  } | null;
  readonly match: MatchView | null;
  /** The matches that can be loaded. */
  readonly matches: readonly MatchPlan[];
  /** Another desk that plays with robots of this field. */
  readonly otherDesk: {
    readonly holder: string;
    readonly by: string;
    readonly robots: readonly string[];
    readonly match: string | null;
    readonly phase: Phase;
  } | null;
  /** In the order of the file, then in the order in which they were added. */
  readonly robots: readonly RobotView[];
}

export interface MatchPlan {
  readonly id: string;
  readonly robots: readonly string[];
  readonly autoS: number;
  readonly teleopS: number;
}

export interface MatchView extends MatchPlan {
  /** `none`: released. */
  readonly phase: Phase;
  /** Null if no time runs. */
  readonly endsAtT: number | null;
  /** The seconds left of the interrupted phase, in a pause. */
  readonly leftS: number | null;
  /** The interrupted phase, in a pause. */
  readonly interrupted: Phase | null;
  /** Why the match pauses or ended, if nobody pressed. */
  readonly why: string | null;
  /** The robots that do not play, because a referee started without them. */
  readonly without: readonly string[];
  /** What lacks for a start or for going on. Empty if nothing lacks. */
  readonly lacks: readonly { readonly robot: string; readonly text: string }[];
}

export interface RobotView {
  readonly name: string;
  readonly address: string;
  readonly place: 'field' | 'pit';
  /** Whether the robot is in FILE, so that only an edit of FILE removes it. */
  readonly isInFile: boolean;
  /** The id that this desk knows for the robot; null before the first contact. */
  readonly id: string | null;
  /** Another id that answers at the address. No token is sent until a press accepts it. */
  readonly otherId: string | null;
  /** The age of everything below, counted from the request. Null if nothing was heard yet. */
  readonly ageS: number | null;
  /** Data of the last 1.5 s. Otherwise the tile is grey and says "not heard". */
  readonly heard: boolean;
  readonly roundTripMs: number | null;
  /** What is wrong, with its cure; the worst first. */
  readonly problems: readonly string[];
  readonly version: string | null;
  readonly matchId: string | null;
  readonly phase: Phase | null;
  readonly stopped: boolean | null;
  readonly lock: {
    readonly id: string;
    readonly by: string;
    readonly reason: string;
    readonly isOurs: boolean;
  } | null;
  /** What became of the desk's wish to lock this robot. Null without such a wish. */
  readonly locking: 'asking' | 'confirmed' | 'not confirmed' | null;
  /** Whether the wish comes from the tile's own LOCK. */
  readonly lockedAlone: boolean;
  readonly light: string | null;
  readonly torque: { readonly gimbal: Torque; readonly chassis: Torque } | null;
  readonly modes: { readonly gimbal: Mode | null; readonly chassis: Mode | null } | null;
  /** In the loaded match, and not left out. */
  readonly plays: boolean;
  /** The robot missed the second of a start, of a next phase or of a release, and has a button to join. */
  readonly missed: 'NOT STARTED' | 'NOT RELEASED' | null;
  /** The robot's log does not continue what this desk has kept: what differs. */
  readonly contradicts: string | null;
  /** The last refused or unanswered unlock of this robot. */
  readonly unlockMissed: boolean;
}
