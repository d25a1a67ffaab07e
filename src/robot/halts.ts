import { type Clock, pause } from '../core/clock.js';
import { MAX_HOLD_MS, type Rates, type UnitName } from '../core/units.js';
import type { MotorUnit } from './motor-unit.js';

/** The shortest time between two halts of a unit that nobody has moved meanwhile. */
const EVERY_MS = 20;

/**
 * Halts units, each by itself. Nothing takes a halt back: neither a newer command nor a caller who hangs up. A frame that
 * moves the unit waits until its halt has ended.
 */
export function haltsOf(units: Readonly<Record<UnitName, MotorUnit>>, clock: Clock) {
  const underWay = new Map<UnitName, Promise<Rates>>();
  /** When the newest halt of each unit was sent, if no motion was sent since. */
  const sentMs = new Map<UnitName, number>();

  /** Tries until the controller shows 0. A short fault of the bus must not let the unit move on, and nobody asks again. */
  const send = async (name: UnitName): Promise<Rates> => {
    const unit = units[name];
    const untilMs = clock.nowMs() + MAX_HOLD_MS;
    const noHold = () => {
      sentMs.set(name, clock.nowMs());
      return 0;
    };
    for (;;) {
      const waitMs = (sentMs.get(name) ?? Number.NEGATIVE_INFINITY) + EVERY_MS - clock.nowMs();
      if (waitMs > 0) await pause(clock, waitMs);
      try {
        return await unit.move({}, noHold, untilMs);
      } catch (error) {
        if (!unit.online || clock.nowMs() + EVERY_MS > untilMs) throw error;
      }
    }
  };

  return {
    /** Resolves with the rates that the controller shows after it. Rejects if it takes no frame. */
    halt(name: UnitName): Promise<Rates> {
      const same = underWay.get(name);
      if (same !== undefined) return same;
      const own = send(name).finally(() => underWay.delete(name));
      underWay.set(name, own);
      return own;
    },

    /** Resolves when no halt of the unit is under way. */
    async ended(name: UnitName): Promise<void> {
      await Promise.allSettled([underWay.get(name)]);
    },

    /** Call this when a frame that moves the unit is sent: the next halt does not wait. */
    moved(name: UnitName): void {
      sentMs.delete(name);
    },
  };
}
