import { type Clock, pause } from '../core/clock.js';
import { RATE_COUNTS, type Rates } from '../core/units.js';
import { TAKES_EFFECT_MS } from '../protocol/registers.js';
import type { MotorController } from './motor-controller.js';
import type { Observed } from './observed.js';

/** A motion takes effect in the next loop period. It is read back after this time. */
const MOVES_WITHIN_MS = 2;
/** How often a frame is sent that the controller ignores. */
const MOST_FRAMES = 3;
/** The longest wait of a frame that ends a motion. */
const HALT_MS = 100;

/** Moves one unit. Does not wait for the unit's turn. */
export function unitMotion(clock: Clock, controller: MotorController, observed: Observed) {
  /**
   * `holdMs` is called before each attempt, and may throw. Resolves with the rates that the controller shows: the wanted
   * ones, or lower ones that it allows, or 0 after `untilMs`. A frame that the controller ignores is sent again.
   * `requireUnended` throws if something has ended the motion before the controller showed it.
   */
  const move = async (
    wanted: Rates,
    holdMs: () => number,
    untilMs: number,
    requireUnended: () => void = () => undefined,
  ): Promise<Rates> => {
    for (let frames = 1; ; frames += 1) {
      await controller.move(wanted, holdMs, untilMs);
      const rates = await settled(wanted, untilMs, requireUnended, frames < MOST_FRAMES);
      if (rates !== undefined) return rates;
    }
  };
  /** Resolves with what the controller shows after a frame. If it ignores the frame and `mayRepeat`, with undefined. */
  const settled = async (
    wanted: Rates,
    untilMs: number,
    requireUnended: () => void,
    mayRepeat: boolean,
  ): Promise<Rates | undefined> => {
    const writtenMs = clock.nowMs();
    for (let pauseMs = MOVES_WITHIN_MS; ; pauseMs *= 2) {
      await pause(clock, Math.max(MOVES_WITHIN_MS, Math.min(pauseMs, untilMs - clock.nowMs())));
      const rates = await controller.rates(Math.max(untilMs, clock.nowMs() + MOVES_WITHIN_MS));
      const nowMs = clock.nowMs();
      if (isSameRates(rates, wanted) || nowMs >= untilMs) return rates;
      requireUnended();
      if (nowMs - writtenMs < TAKES_EFFECT_MS) continue;
      if (isPartOf(rates, wanted)) return rates;
      // Noise may have damaged the frame on its way to the controller.
      if (nowMs + TAKES_EFFECT_MS < untilMs && mayRepeat) return undefined;
    }
  };
  /** Ends a motion at once. Never rejects: the controller ends the motion by itself. */
  const halt = async (): Promise<void> => {
    if (!observed.flags.includes('motion')) return;
    await controller.move({}, () => 0, clock.nowMs() + HALT_MS).catch(() => undefined);
  };
  return { move, halt };
}

/** Whether a controller with lower limits shows these rates for as long as the wanted motion holds. */
function isPartOf(rates: Rates, wanted: Rates): boolean {
  const axes = Object.entries(rates);
  const isWithin = ([axis, rate]: readonly [string, number]) => {
    const most = wanted[axis] ?? 0;
    return rate * most >= 0 && Math.abs(rate) < Math.abs(most) + 1 / RATE_COUNTS;
  };
  return axes.some(([, rate]) => rate !== 0) && axes.every(isWithin);
}

function isSameRates(one: Rates, other: Rates): boolean {
  return Object.entries(one).every(([axis, rate]) => Math.abs(rate - (other[axis] ?? 0)) < 1 / RATE_COUNTS);
}
