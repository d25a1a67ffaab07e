import type { Logger } from 'pino';
import type { Clock } from '../core/clock.js';
import { type Deadline, type Deadlines, NEVER } from '../core/deadlines.js';
import { describeError, isRobotError, RobotError } from '../core/errors.js';
import { type Hardware, isMissing, type OutputPin } from '../hardware/ports.js';
import type { LaserStatus } from '../schemas/status.js';
import { failure, type LaserEvent, type LaserReason, type LaserState } from './robot-event.js';

interface LaserOptions {
  readonly hardware: Pick<Hardware, 'laser' | 'interlock'>;
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  /** The longest time that the laser stays lit; 0 = no limit. */
  readonly maxOnS: number;
  /** Throws the reason if nobody may light the laser now. */
  readonly requireAllowed: () => void;
  readonly emit: (event: LaserEvent) => void;
}

/**
 * The laser is dark unless a caller asked for light. Every act is a synchronous pin write and read-back. None waits for
 * the bus, the disk or another request. If the time limit has passed, the laser is dark before an act or a report.
 */
export class Laser {
  readonly #options: LaserOptions;
  readonly #limit: Deadline;
  #wanted: LaserState = 'off';
  /** The state that the last read-back of the pin confirmed. */
  #proven: LaserState = 'off';
  #reason: LaserReason | undefined;
  /** When the laser was switched off last, other than by its time limit. */
  #offMs = Number.NEGATIVE_INFINITY;
  /** The fault that was emitted last, in words; undefined while the laser can be used. */
  #lastFault: string | undefined;

  constructor(options: LaserOptions) {
    this.#options = options;
    this.#limit = options.deadlines.make(() => this.darken('time limit'));
    this.#options.hardware.interlock?.onOpen(() => {
      if (this.#wanted === 'on') this.darken('interlock opened');
    });
  }

  /** The laser's part of the status. If a caller switched the laser off, the reason is undefined. */
  report(): Omit<LaserStatus, 'problem'> & { readonly problem: RobotError | undefined } {
    this.#options.deadlines.judge();
    // The interlock is read before the pin: if the interlock's line is lost, reading it darkens the laser.
    const interlock = this.#interlock();
    const reason = this.#reason;
    try {
      const isLit = this.#pin().read();
      const unasked = isLit && this.#wanted === 'off';
      const light = unasked ? 'fault' : isLit ? 'on' : 'dark';
      return {
        state: isLit ? 'on' : 'off',
        light,
        reason,
        problem: isRobotError(interlock) ? interlock : undefined,
      };
    } catch (error) {
      if (!isRobotError(error)) throw error;
      // A missing pin that was dark when last read is no fault: the daemon cannot have lit the laser since.
      const mayBeLit = error.code !== 'laser-unavailable' || this.#proven === 'on';
      return { state: null, light: mayBeLit ? 'fault' : 'unknown', reason, problem: error };
    }
  }

  /**
   * `sinceMs` is the earliest time at which the request may have come; by default now. Throws if nobody may light the
   * laser, with `too-late` if it was switched off since then, or with `laser-unavailable`, `interlock-open` or `pin-failed`.
   * After a failure of the pin, each poll tries to darken the laser until it is dark.
   */
  on(sinceMs = this.#options.clock.nowMs()): LaserState {
    this.#options.deadlines.judge();
    this.#options.requireAllowed();
    if (sinceMs < this.#offMs) throw new RobotError('too-late');
    const pin = this.#pin();
    if (this.#options.hardware.interlock?.isClosed() === false) throw new RobotError('interlock-open');
    this.#wanted = 'on';
    this.#reason = undefined;
    try {
      pin.write(true);
      if (!pin.read()) throw new RobotError('pin-failed', { written: 'on', read: 'off' });
    } catch (error) {
      this.darken(undefined);
      throw error;
    }
    const { clock, maxOnS } = this.#options;
    this.#limit.set(maxOnS > 0 ? clock.nowMs() + 1000 * maxOnS : NEVER);
    this.#prove('on');
    return 'on';
  }

  /** Throws `laser-unavailable` or `pin-failed`. After that, each poll tries to darken the laser until it is dark. */
  off(reason?: LaserReason): LaserState {
    this.#options.deadlines.judge();
    this.#wanted = 'off';
    // The time limit of an older On is no reason against a newer one.
    if (reason !== 'time limit') this.#offMs = this.#options.clock.nowMs();
    if (this.#proven === 'on' || reason === undefined) this.#reason = reason;
    this.#limit.set(NEVER);
    const pin = this.#pin();
    pin.write(false);
    if (pin.read()) throw new RobotError('pin-failed', { written: 'off', read: 'on' });
    this.#prove('off');
    return 'off';
  }

  /**
   * Switches the laser off. Does not throw. Returns an error if the laser may still be lit; polls then try
   * again.
   */
  darken(reason: LaserReason | undefined): RobotError | undefined {
    try {
      this.off(reason);
      return undefined;
    } catch (error) {
      if (!isRobotError(error)) throw error;
      return error.code === 'laser-unavailable' && this.#proven === 'off' ? undefined : error;
    }
  }

  /**
   * Darkens the laser if it should be dark but may be lit, if its interlock is open, or if its pin is lost. Emits a fault
   * that differs from the last one.
   */
  poll(): void {
    const error = this.#mend();
    const mayBeLit = error !== undefined && this.report().light === 'fault';
    const fault = error === undefined ? undefined : `${error} ${mayBeLit}`;
    if (fault === this.#lastFault) return;
    this.#lastFault = fault;
    const detail = mayBeLit ? { mayBeLit } : {};
    this.#options.emit(
      error === undefined ? { what: 'laser-works' } : failure('laser-failed', error, detail),
    );
  }

  /** Returns the reason why the laser cannot be used, or undefined. */
  #mend(): unknown {
    try {
      if (this.#wanted === 'off') {
        if (couldBeLit(this.#pin())) this.off(this.#reason);
        else this.#prove('off');
        this.#options.hardware.interlock?.isClosed();
      } else if (this.#interlock() !== 'closed') this.darken('interlock opened');
      else if (!this.#pin().read()) return this.darken('pin lost');
      return undefined;
    } catch (error) {
      // A missing pin is dark when it returns, so light is no longer wanted. A pin that exists but cannot be
      // read may still be lit, so light stays wanted.
      if (this.#wanted === 'on' && isMissing(this.#options.hardware.laser)) this.darken('pin lost');
      return error;
    }
  }

  #prove(after: LaserState): void {
    const before = this.#proven;
    this.#proven = after;
    const reason = this.#reason;
    const detail = reason === undefined ? { before, after } : { before, after, reason };
    if (before !== after) this.#options.emit({ what: 'laser', detail });
  }

  /**
   * Whether the interlock is closed, or the error if its pin cannot be read. A robot without an interlock
   * counts as closed.
   */
  #interlock(): 'closed' | 'open' | RobotError {
    try {
      return this.#options.hardware.interlock?.isClosed() === false ? 'open' : 'closed';
    } catch (error) {
      if (!isRobotError(error)) throw error;
      return error;
    }
  }

  #pin(): OutputPin {
    const pin = this.#options.hardware.laser;
    if (isMissing(pin)) throw new RobotError('laser-unavailable', { ...pin });
    return pin;
  }
}

/** If the pin cannot be read, counts the laser as lit, so that the pin is written dark. */
function couldBeLit(pin: OutputPin): boolean {
  try {
    return pin.read();
  } catch {
    return true;
  }
}

/**
 * Writes the laser pin dark while there is no `Laser`: before the port opens, at the end of the process, and after a
 * defect. Does not throw, so that the process ends cleanly even if the pin does not obey.
 */
export function darkenPin({ laser }: Pick<Hardware, 'laser'>, log: Logger): void {
  if (isMissing(laser)) return;
  try {
    laser.write(false);
  } catch (error) {
    log.error(describeError(error), 'the laser pin does not obey');
  }
}
