import type { Clock } from '../../src/core/clock.js';
import { Deadlines } from '../../src/core/deadlines.js';
import { asRobotError, RobotError } from '../../src/core/errors.js';
import { inMs, requireInTime } from '../../src/core/not-after.js';
import { DEFAULT_PERMISSIONS, type Phase } from '../../src/core/phases.js';
import { sha256 } from '../../src/core/sha256.js';
import type { Ask } from '../../src/desk/state.js';
import { problemOf } from '../../src/http/problems.js';
import { Match, type MatchState, NO_MATCH } from '../../src/match/match.js';
import { statusWith, UNIT_STATUS } from '../support/status.js';

/** Something that a robot began to allow, because a desk asked for it. */
export interface Permitted {
  readonly what: Phase | 'unlock';
  readonly atMs: number;
}

interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The answer of a robot that refuses to end or pause its match. */
export const REFUSES_PHASE: Answer = { status: 409, body: { code: 'stale-match', detail: '' } };

/** The lock, phase and lease of a robot, with its real rules, behind the calls that a desk makes. */
export class FakeRobot {
  readonly id: string;
  readonly permitted: Permitted[] = [];
  /** When the robot last showed that it was locked. */
  lockedMs = Number.NEGATIVE_INFINITY;
  isOff = false;
  /** The board runs without its daemon, and refuses connections. */
  isDown = false;
  stopped = false;
  /** As a daemon of 0.3.0: no id of the robot or of a lock, and an unlock removes any lock. */
  isOld = false;
  /** The robot cannot read its own id. */
  hasLostId = false;
  /** The code with which the robot refuses the desk's token. */
  refuses: 'token-unknown' | 'not-allowed' | undefined;
  /** Answers that replace the robot's own, by the kind of the request. */
  answers: Partial<Record<Ask['kind'], Answer>> = {};
  readonly #nowMs: () => number;
  #startMs = 0;
  #kept: MatchState = NO_MATCH;
  match: Match;

  constructor(name: string, nowMs: () => number) {
    this.id = sha256(name).slice(0, 16);
    this.#nowMs = nowMs;
    this.match = this.#made();
  }

  get shownId(): string | null {
    return this.hasLostId ? null : this.id;
  }

  get #ownMs(): number {
    return this.#nowMs() - this.#startMs;
  }

  #made(): Match {
    const clock: Clock = {
      nowMs: () => this.#ownMs,
      after: () => ({ cancel: () => undefined }),
      wallTime: () => new Date(0),
    };
    const settings = {
      refereeSilenceMs: 3000,
      onRefereeSilence: 'stop',
      phases: DEFAULT_PERMISSIONS,
    } as const;
    const match = new Match({ clock, deadlines: new Deadlines(clock), settings, state: this.#kept });
    match.mustStop.add(() => {
      this.stopped = true;
    });
    return match;
  }

  /** A restart of the daemon; with `isReboot` of the whole board, after which a match pauses. */
  restart(isReboot: boolean): void {
    const { state } = this.match;
    const movedMs = this.#nowMs() - this.#startMs;
    this.#startMs = this.#nowMs();
    const isOver = state.phase === 'none' || state.phase === 'ended';
    this.#kept =
      isReboot && !isOver
        ? { ...state, phase: 'pause', endsAtMs: null }
        : { ...state, endsAtMs: state.endsAtMs === null ? null : state.endsAtMs - movedMs };
    this.match = this.#made();
    this.stopped = this.match.forbidsMotion || this.stopped;
  }

  /** Another referee locks or unlocks the robot. */
  lockByOthers(): void {
    this.match.lock({ id: 'other', by: 'other', reason: 'inspection' });
    this.stopped = true;
  }

  /** Whether the robot may move now, if its team resumed it. */
  get mayMove(): boolean {
    return !this.match.forbidsMotion;
  }

  answer({ kind, path, body, withToken }: Ask): Answer {
    const replaced = this.answers[kind];
    if (replaced !== undefined) return replaced;
    try {
      if (path === '/healthz')
        return { status: 200, body: { status: 'ok', ...(!this.isOld && { id: this.shownId }) } };
      if (path === '/api/stop') {
        this.stopped = true;
        return { status: 200, body: { stopped: true } };
      }
      if (!withToken) return problem('token-required', 401);
      if (this.refuses === 'token-unknown') return problem('token-unknown', 401);
      if (this.refuses === 'not-allowed' && body !== undefined) return problem('not-allowed', 403);
      return { status: 200, body: this.#acted(path, body ?? {}) };
    } catch (error) {
      const { problem } = problemOf(asRobotError(error));
      return { status: problem.status, body: problem };
    }
  }

  // biome-ignore lint/suspicious/noExplicitAny: the routes of the robot check bodies; here the desk makes them.
  #acted(path: string, body: any): unknown {
    const { match } = this;
    const before = match.state;
    if (path === '/api/status') return this.#status();
    if (path === '/api/match/lease') {
      requireInTime(inMs(body.notAfterT), this.#ownMs);
      match.beat(body.holder, 'desk', body.ttlMs, body.takeover ?? false);
    }
    if (path === '/api/match/lock') {
      if (this.isOld && 'id' in body) throw new RobotError('invalid-request', { errors: [] });
      if ((body.replaces ?? ['']).some((one: string) => before.lock?.id.startsWith(one) ?? true))
        match.lock({ id: body.id ?? `${this.#nowMs()}`, by: 'desk', reason: body.reason });
    }
    if (path === '/api/match/unlock' && this.isOld) match.unlock();
    else if (path === '/api/match/unlock') {
      requireInTime(inMs(body.notAfterT), this.#ownMs);
      match.unlock(body.lock);
      if (before.lock !== null) this.permitted.push({ what: 'unlock', atMs: this.#nowMs() });
    }
    if (path === '/api/match' && 'phase' in body) {
      const { id, revision, phase, remainingS = null, holder, notAfterT } = body;
      requireInTime(inMs(notAfterT), this.#ownMs);
      if (holder !== undefined) match.lease.requireLast(holder);
      match.set({ id, revision, phase, remainingS }, 'desk');
      if (DEFAULT_PERMISSIONS[match.state.phase].drive && before.phase !== match.state.phase)
        this.permitted.push({ what: match.state.phase, atMs: this.#nowMs() });
    }
    if (match.forbidsMotion) this.stopped = true;
    if (path.startsWith('/api/log')) return { seq: 0, hash: '0'.repeat(64) };
    return {
      ...this.#status().match,
      t: this.#ownMs / 1000,
      beatAgeS: match.lease.owner === null ? null : match.lease.silentMs / 1000,
      head: { seq: 0, hash: '0'.repeat(64) },
    };
  }

  #status() {
    const { call, phase, endsAtMs, lock } = this.match.state;
    const { owner, isExpired } = this.match.lease;
    if (lock !== null) this.lockedMs = this.#nowMs();
    const unit = { ...UNIT_STATUS, torque: this.stopped ? ('off' as const) : ('on' as const) };
    const old = { id: undefined, version: '0.3.0', lock: lock && { ...lock, id: undefined } };
    const { lock: shownLock, ...shown } = this.isOld ? old : { id: this.shownId, version: '0.4.0', lock };
    return statusWith({
      ...shown,
      uptimeS: this.#ownMs / 1000,
      stopped: this.stopped,
      gimbal: unit,
      chassis: unit,
      access: { state: 'closed', exposed: false },
      match: {
        id: call?.id ?? null,
        revision: call?.revision ?? 0,
        phase,
        endsAtT: endsAtMs === null ? null : endsAtMs / 1000,
        lock: shownLock as typeof lock,
        lease: owner === null ? null : { ...owner, ...(isExpired && { expired: true }) },
        refereeSilent: this.match.refereeSilent,
        allows: this.match.allows,
        recorded: true,
      },
    });
  }
}

function problem(code: 'token-required' | 'token-unknown' | 'not-allowed', status: number) {
  return { status, body: { code, detail: `${code}.`, status, title: code, type: code } };
}
