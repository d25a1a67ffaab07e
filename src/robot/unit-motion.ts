import { type Clock, pause } from '../core/clock.js';
import { MAX_HOLD_MS, RATE_COUNTS, type Rates } from '../core/units.js';
import { TAKES_EFFECT_MS } from '../protocol/registers.js';
import type { MotorController } from './motor-controller.js';

/** A motion takes effect in the next loop period. It is read back after this time. */
const MOVES_WITHIN_MS = 2;
/** The shortest time from one halt to the next, unless a motion was sent between them. */
const HALT_EVERY_MS = 20;
/** A motion that holds longer than this beyond its time is halted. */
const LATE_MS = TAKES_EFFECT_MS;

/** Moves and halts one unit. Does not wait for the unit's turn. */
export function unitMotion(clock: Clock, controller: MotorController) {
  let halting: Promise<Rates> | undefined;
  /** When the newest halt was sent, if no motion was sent since. */
  let haltSentMs = Number.NEGATIVE_INFINITY;
  /** When the newest motion that was sent since the newest halt ends. */
  let wantedUntilMs = Number.NEGATIVE_INFINITY;
  /** When the motion ends that waits to be sent. */
  let waitsUntilMs = Number.NEGATIVE_INFINITY;
  /** Until then the frames that have been on the bus may move the unit. */
  let movesUntilMs = Number.NEGATIVE_INFINITY;
  /** Whether a frame that moves the unit is on the bus now. */
  let isOnBus = false;

  /**
   * Resolves with the rates that the controller shows: the wanted ones, or lower ones that it allows, or what it shows
   * after `untilMs`. A frame that the controller ignores is written again. `requireUnended` throws if something has ended the
   * motion before the controller showed it.
   */
  const sent = async (
    write: () => Promise<void>,
    wanted: Rates,
    untilMs: number,
    requireUnended: () => void,
  ): Promise<Rates> => {
    for (;;) {
      const sentMs = clock.nowMs();
      await write();
      const rates = await settled(wanted, sentMs, untilMs, requireUnended);
      if (rates !== undefined) return rates;
    }
  };

  /** Resolves with what the controller shows after a frame. If it ignores the frame, with undefined. */
  const settled = async (
    wanted: Rates,
    sentMs: number,
    untilMs: number,
    requireUnended: () => void,
  ): Promise<Rates | undefined> => {
    const writtenMs = clock.nowMs();
    for (let pauseMs = MOVES_WITHIN_MS; ; pauseMs *= 2) {
      await pause(clock, Math.max(MOVES_WITHIN_MS, Math.min(pauseMs, untilMs - clock.nowMs())));
      const { rates, leftMs } = await controller.motion(Math.max(untilMs, clock.nowMs() + MOVES_WITHIN_MS));
      const nowMs = clock.nowMs();
      if (isSameRates(rates, wanted) || nowMs >= untilMs) return rates;
      requireUnended();
      if (nowMs - writtenMs < TAKES_EFFECT_MS) continue;
      // A slower motion from before has another end.
      const lateMs = nowMs + leftMs - untilMs;
      const isOwn = lateMs > -LATE_MS && lateMs < nowMs - sentMs;
      if (isOwn && isPartOf(rates, wanted)) return rates;
      // Noise may have damaged the frame on its way to the controller.
      if (nowMs + TAKES_EFFECT_MS < untilMs) return undefined;
    }
  };

  /** A short fault of the bus must not let the unit move on, and nobody asks again. */
  const halted = async (): Promise<Rates> => {
    const untilMs = clock.nowMs() + MAX_HOLD_MS;
    const noHold = () => {
      haltSentMs = clock.nowMs();
      return 0;
    };
    for (;;) {
      const waitMs = haltSentMs + HALT_EVERY_MS - clock.nowMs();
      if (waitMs > 0) await pause(clock, waitMs);
      try {
        const write = () => controller.move({}, noHold, untilMs);
        const rates = await sent(write, {}, untilMs, () => undefined);
        if (isSameRates(rates, {})) movesUntilMs = Number.NEGATIVE_INFINITY;
        return rates;
      } catch (error) {
        if (clock.nowMs() + HALT_EVERY_MS > untilMs) throw error;
      }
    }
  };

  const halt = (): Promise<Rates> => {
    wantedUntilMs = Number.NEGATIVE_INFINITY;
    waitsUntilMs = Number.NEGATIVE_INFINITY;
    halting ??= halted().finally(() => {
      halting = undefined;
    });
    return halting;
  };

  return {
    /**
     * Moves the unit until `untilMs`, as `sent` says. `holdMs` says before each attempt for how long the frame holds, and may
     * throw.
     */
    move(wanted: Rates, holdMs: () => number, untilMs: number, requireUnended: () => void): Promise<Rates> {
      let heldMs = 0;
      const movesMs = () => {
        heldMs = holdMs();
        haltSentMs = Number.NEGATIVE_INFINITY;
        wantedUntilMs = untilMs;
        isOnBus = true;
        return heldMs;
      };
      const ended = () => {
        isOnBus = false;
        // Noise may have damaged the frame. An older one then still moves the unit.
        movesUntilMs = Math.max(movesUntilMs, clock.nowMs() + heldMs);
      };
      const write = () => controller.move(wanted, movesMs, untilMs, ended);
      return sent(write, wanted, untilMs, requireUnended);
    },

    /** A motion until then waits to be sent. The one before may last until then. */
    accept(untilMs: number): void {
      waitsUntilMs = untilMs;
    },

    waitsNoMore(): void {
      waitsUntilMs = Number.NEGATIVE_INFINITY;
    },

    /**
     * Ends any motion, and tries until the controller shows that, for at most 500 ms. Nothing takes this back. A halt under way
     * is shared. Rejects if the controller does not answer. A unit that may still move is halted again by `calm`.
     */
    halt,

    /** Halts the unit if it may move although nobody drives it, or for longer than its driver wants. */
    calm(isDriven: boolean): void {
      const nowMs = clock.nowMs();
      const isUnwanted = !isDriven || nowMs >= Math.max(wantedUntilMs, waitsUntilMs) + LATE_MS;
      const mayMove = isOnBus || nowMs < movesUntilMs;
      // The next poll tries again if this fails.
      if (isUnwanted && mayMove) halt().catch(() => undefined);
    },

    /** Resolves when no halt is under way. A frame that moves the unit waits for this. */
    async haltEnded(): Promise<void> {
      await Promise.allSettled([halting]);
    },
  };
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
