import type { Clock, Timer } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import { type Hardware, isMissing, type OutputPin } from '../hardware/ports.js';

export type LaserState = 'on' | 'off';

/** Why the laser went dark without being asked. */
export type LaserReason = 'time limit' | 'interlock opened' | 'stop' | 'pin lost';

/**
 * Dark unless someone asked for light just now. Every act is a synchronous pin write and read-back; none of them waits
 * for the bus, the disk or another request.
 */
export class Laser {
  readonly #hardware: Pick<Hardware, 'laser' | 'interlock'>;
  readonly #clock: Clock;
  /** 0 = no limit. */
  readonly #maxOnMs: number;
  readonly #onChange: (before: LaserState, after: LaserState, reason: LaserReason | undefined) => void;
  #limit: Timer | undefined;
  #wanted: LaserState = 'off';
  /** What was last told of a change. */
  #told: LaserState = 'off';
  #reason: LaserReason | undefined;

  constructor(options: {
    hardware: Pick<Hardware, 'laser' | 'interlock'>;
    clock: Clock;
    maxOnS: number;
    onChange: (before: LaserState, after: LaserState, reason: LaserReason | undefined) => void;
  }) {
    this.#hardware = options.hardware;
    this.#clock = options.clock;
    this.#maxOnMs = options.maxOnS * 1000;
    this.#onChange = options.onChange;
    this.#hardware.interlock?.onOpen(() => {
      if (this.#wanted === 'on') this.#tryOff('interlock opened');
    });
  }

  /** Why it is dark although it was last switched on; undefined after a switch by hand. */
  get reason(): LaserReason | undefined {
    return this.#reason;
  }

  /** As the pin says. Throws `laser-unavailable` or `pin-failed`. */
  state(): LaserState {
    return this.#pin().read() ? 'on' : 'off';
  }

  on(): LaserState {
    const pin = this.#pin();
    if (this.#hardware.interlock !== undefined && !this.#hardware.interlock.isClosed()) {
      throw new RobotError('interlock-open');
    }
    this.#wanted = 'on';
    this.#reason = undefined;
    try {
      pin.write(true);
      if (!pin.read()) throw new RobotError('pin-failed', { written: 'on', read: 'off' });
    } catch (error) {
      this.#tryOff(undefined);
      throw error;
    }
    this.#armLimit();
    this.#tell('on');
    return 'on';
  }

  off(reason?: LaserReason): LaserState {
    this.#wanted = 'off';
    if (this.#told === 'on' || reason === undefined) this.#reason = reason;
    this.#limit?.cancel();
    const pin = this.#pin();
    pin.write(false);
    if (pin.read()) throw new RobotError('pin-failed', { written: 'off', read: 'on' });
    this.#tell('off');
    return 'off';
  }

  /**
   * Called by supervision: a pin that failed to go dark, or that something else lit, is darkened. Returns why the laser
   * cannot be used, if so.
   */
  keepDark(): unknown {
    try {
      if (this.#wanted === 'off') {
        this.#darkenIfLit(this.#pin());
        this.#hardware.interlock?.isClosed();
      } else if (isMissing(this.#hardware.laser)) this.#tryOff('pin lost');
      else if (this.#interlockOpen()) this.#tryOff('interlock opened');
      return undefined;
    } catch (error) {
      return error;
    }
  }

  #darkenIfLit(pin: OutputPin): void {
    if (couldBeLit(pin)) this.off(this.#reason);
    else this.#tell('off');
  }

  #tell(after: LaserState): void {
    const before = this.#told;
    this.#told = after;
    if (before !== after) this.#onChange(before, after, this.#reason);
  }

  /** A contact that cannot be read counts as open. */
  #interlockOpen(): boolean {
    try {
      return this.#hardware.interlock?.isClosed() === false;
    } catch {
      return true;
    }
  }

  #tryOff(reason: LaserReason | undefined): void {
    try {
      this.off(reason);
    } catch {
      // Wanted is `off` now: supervision writes it again until the pin obeys, and status shows the pin's fault.
    }
  }

  #armLimit(): void {
    this.#limit?.cancel();
    if (this.#maxOnMs > 0) this.#limit = this.#clock.after(this.#maxOnMs, () => this.#tryOff('time limit'));
  }

  #pin(): OutputPin {
    const pin = this.#hardware.laser;
    if (isMissing(pin)) throw new RobotError('laser-unavailable', { ...pin });
    return pin;
  }
}

/** So could one that cannot be read. */
function couldBeLit(pin: OutputPin): boolean {
  try {
    return pin.read();
  } catch {
    return true;
  }
}
