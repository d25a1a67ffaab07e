import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { perUnit, UNIT_LIST } from '../../src/core/units.js';
import type { Hardware } from '../../src/hardware/ports.js';
import type { ManualClock } from '../support/manual-clock.js';
import type { WalkSettings } from './history.js';
import { LightLoops } from './light-loops.js';
import { type BusWatch, TimedBus } from './timed-bus.js';
import { type Truth, truthOf } from './truth.js';

const LOOP_RATE_HZ = 1000;

/** The robot without its daemon: controllers, bus, pin and interlock. */
export class WalkRobot {
  readonly wire: TimedBus;
  readonly #loops = perUnit(unit => new LightLoops(unit, LOOP_RATE_HZ));
  readonly #robot: SimulatedRobot;
  readonly #opened: (() => void)[] = [];
  #isClosed = true;

  constructor(clock: ManualClock, { frameMs, effectMs }: WalkSettings, watch: BusWatch) {
    this.#robot = new SimulatedRobot({
      clock,
      effectMs,
      physics: { loops: this.#loops, loopRateHz: LOOP_RATE_HZ, step: () => undefined },
    });
    this.wire = new TimedBus({ bus: this.#robot.hardware.bus, clock, frameMs, watch });
  }

  /** The hardware as one daemon sees it. */
  hardware(): Hardware {
    return {
      ...this.#robot.hardware,
      // As on a real robot, a stop must survive a restart of the daemon.
      simulated: false,
      bus: this.wire,
      interlock: {
        isClosed: () => this.#isClosed,
        onOpen: listener => this.#opened.push(listener),
      },
    };
  }

  get truth(): Truth {
    return truthOf(this.#robot, this.#loops);
  }

  inject(fault: Parameters<SimulatedRobot['inject']>[0]): void {
    this.#robot.inject(fault);
  }

  /** Ends every fault of bus, controllers and pin. */
  clear(): void {
    this.inject({ target: 'bus', fault: 'clear' });
    for (const { name } of UNIT_LIST) this.inject({ target: name, fault: 'clear' });
    this.inject({ target: 'pin', fault: 'clear' });
    this.wire.lostAnswers = 0;
  }

  /** Darkens the pin, as trunnion-dark does when the daemon has ended. Without power the pin is dark anyway. */
  darken(): void {
    this.inject({ target: 'pin', fault: 'clear' });
    const { laser } = this.#robot.hardware;
    if ('write' in laser) laser.write(false);
  }

  get isInterlockClosed(): boolean {
    return this.#isClosed;
  }

  set isInterlockClosed(closed: boolean) {
    const opens = this.#isClosed && !closed;
    this.#isClosed = closed;
    if (opens) for (const listener of this.#opened) listener();
  }
}
