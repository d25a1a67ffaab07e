import type { Clock } from '../src/core/clock.js';
import { perUnit, type Unit, type UnitName } from '../src/core/units.js';
import type { Hardware } from '../src/hardware/ports.js';
import type { FaultBody } from './bus/faults.js';
import { SimulatedBus } from './bus/simulated-bus.js';
import { SimulatedPin } from './bus/simulated-pin.js';
import { type Controller, SimulatedController } from './firmware/simulated-controller.js';
import type { Physics } from './firmware/unit-loops.js';

/** The longest lag that the simulation makes up. Time beyond it is skipped, so that the robot does not move in a burst. */
const CATCH_UP_MS = 2000;

/** A simulated robot: controllers and mechanics behind the hardware ports, with faults on request. */
export class SimulatedRobot {
  readonly hardware: Hardware;
  readonly #clock: Clock;
  readonly #physics: Physics;
  readonly #controllers: Readonly<Record<UnitName, Controller>>;
  readonly #bus: SimulatedBus;
  readonly #pin = new SimulatedPin();
  readonly #tickMs: number;
  #worldMs: number;
  #lagMs = 0;

  /** `effectMs`: the delay until frames for mode, stop, excitation and commit take effect. By default 0. */
  constructor(options: {
    clock: Clock;
    physics: Physics;
    effectMs?: number;
    /** Makes each controller. By default, one with the simulated firmware. */
    controller?: (unit: Unit) => Controller;
  }) {
    const { clock, physics, effectMs, controller } = options;
    const { loops, loopRateHz } = physics;
    this.#clock = clock;
    this.#physics = physics;
    this.#tickMs = 1000 / loopRateHz;
    this.#worldMs = clock.nowMs();
    this.#controllers = perUnit(
      unit => controller?.(unit) ?? new SimulatedController(unit, loops[unit.name], loopRateHz, effectMs),
    );
    const controllers = Object.values(this.#controllers);
    this.#bus = new SimulatedBus({ controllers, clock, beforeEach: () => this.#advance() });
    this.hardware = {
      simulated: true,
      bus: this.#bus,
      laser: this.#pin,
      close: async () => this.#bus.close(),
    };
  }

  /** The true state of the simulated hardware. */
  truth(): Record<string, unknown> {
    this.#advance();
    return {
      laser: { level: this.#pin.level },
      ...perUnit(({ name }) => ({ powered: true, ...this.#controllers[name].truth() })),
      lagMs: Math.round(this.#lagMs),
    };
  }

  /** Injects a fault. Pairs that FAULT_BODY does not allow do nothing. */
  inject({ target, fault, count }: FaultBody): void {
    this.#advance();
    const isPin = target === 'pin';
    if (fault === 'clear' && (isPin || target === 'bus')) this.#pin.clear();
    if (isPin && fault === 'nack') this.#pin.fail(count);
    if (isPin) return;
    if (fault === 'clear') this.#bus.clear(target);
    else if (fault !== 'unplug' && fault !== 'plug' && fault !== 'brownout')
      this.#bus.inject(target, fault, count);
    else if (target !== 'bus') {
      if (fault === 'unplug') this.#bus.unplug(target, count);
      if (fault === 'plug') this.#bus.plug(target);
      if (fault === 'brownout') this.#controllers[target].reset();
    }
  }

  #advance(): void {
    const nowMs = this.#clock.nowMs();
    const behindMs = nowMs - this.#worldMs;
    if (behindMs > CATCH_UP_MS) {
      this.#lagMs += behindMs - CATCH_UP_MS;
      this.#worldMs = nowMs - CATCH_UP_MS;
    }
    const controllers = Object.values(this.#controllers);
    while (this.#worldMs + this.#tickMs <= nowMs) {
      for (const controller of controllers) controller.tick();
      this.#physics.step();
      this.#worldMs += this.#tickMs;
    }
  }
}
