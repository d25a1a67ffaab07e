import { type Clock, endedWithin } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import type { Mode } from '../core/units.js';
import type { UnitState } from './unit-state.js';
import { isReleasing } from './wanted.js';

/**
 * The last frame of a request ends at most this long after the request arrived, so that the caller is answered within
 * a second.
 */
const REQUEST_MS = 350;

/** The acts that the rules of a match may forbid. */
export type Act =
  | { readonly kind: 'mode'; readonly mode: Mode }
  | { readonly kind: 'excite'; readonly isEnd?: boolean }
  | { readonly kind: 'drive' | 'save' | 'trial' | 'light' | 'resume' };

/** The rules of a match. They are checked when a request arrives, and again when its turn comes. */
export interface Permission {
  /** Throws a RobotError with the reason when the act is forbidden now. */
  require(act: Act): void;
}

export type RequestGate = ReturnType<typeof requestGate>;

/** Lets requests through to a controller, one at a time in order of arrival, if they are allowed. */
export function requestGate(clock: Clock, permission: Permission, state: UnitState) {
  const { name: unit } = state.unit;
  let lastTurn: Promise<unknown> = Promise.resolve();

  /**
   * Performs a caller's act, unless the robot is stopped or being released. `stillWanted` throws if the caller no
   * longer wants the act, for example with `caller-gone`. `perform` may ask `requireAllowed` again.
   */
  const request = <T>(
    act: Act,
    stillWanted: (() => void) | undefined,
    perform: (untilMs: number, requireAllowed: () => void) => Promise<T>,
  ): Promise<T> => {
    const requireAllowed = () => {
      requireNotOvertaken(act);
      requireOnline();
      if (isReleasing(state.wanted)) throw new RobotError('unit-busy', { unit });
      stillWanted?.();
    };
    return inTurn(untilMs => perform(untilMs, requireAllowed), requireAllowed);
  };

  /**
   * Performs an act in the unit's turn. `requireAllowed` is called on arrival and again when the turn comes, because
   * a match may forbid the act in between.
   */
  const inTurn = async <T>(
    perform: (untilMs: number) => Promise<T>,
    requireAllowed?: () => void,
  ): Promise<T> => {
    const untilMs = clock.nowMs() + REQUEST_MS;
    requireAllowed?.();
    requireOnline();
    return turn(untilMs, () => {
      requireAllowed?.();
      return perform(untilMs);
    });
  };

  /** Performs an act as soon as all earlier turns have ended. Rejects with `unit-busy` if that is after `untilMs`. */
  const turn = <T>(untilMs: number, perform: () => Promise<T>): Promise<T> => {
    const before = lastTurn;
    const own = endedWithin(clock, untilMs - clock.nowMs(), before).then(isFree => {
      if (!isFree) throw new RobotError('unit-busy', { unit });
      return perform();
    });
    lastTurn = Promise.allSettled([before, own]);
    return own;
  };

  /**
   * Lets requests share a turn. When the turn of one comes, `choose` picks it and others that wait, and `act` is called for
   * each picked one whose time is not over yet. Those that are not picked get their own turns. If `choose` rejects, only
   * the request whose turn it is fails.
   */
  const sharedTurns = <Request, Answer>(
    choose: (own: Request, waiting: readonly Request[], untilMs: number) => Promise<readonly Request[]>,
    act: (request: Request) => Promise<Answer>,
  ) => {
    /** In order of arrival. */
    const waiting = new Map<Request, (answer: Promise<Answer>) => void>();
    return (own: Request): Promise<Answer> =>
      new Promise((resolve, reject) => {
        waiting.set(own, resolve);
        const share = async (untilMs: number) => {
          if (!waiting.has(own)) return;
          for (const one of await choose(own, [...waiting.keys()], untilMs)) {
            waiting.get(one)?.(act(one));
            waiting.delete(one);
          }
        };
        inTurn(share).catch(error => {
          waiting.delete(own);
          reject(error);
        });
      });
  };

  /** Throws if a stop or the match forbids the act. A long act calls this again before it counts as done. */
  const requireNotOvertaken = (act: Act): void => {
    permission.require(act);
    if (state.wanted.latch === 'set') throw new RobotError('stopped');
  };

  const requireOnline = (): void => {
    const { online, problem } = state.observed;
    if (!online) throw new RobotError('unit-offline', { unit }, { cause: problem });
  };
  return { request, inTurn, turn, sharedTurns, requireNotOvertaken, requireOnline };
}
