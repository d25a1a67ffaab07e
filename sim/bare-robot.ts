import { defaultGains, type GainSet, type Gains, perUnit, type UnitName } from '../src/core/units.js';
import type { StepFigures } from '../src/schemas/step.js';
import { stepFigures } from '../src/tuning/step-figures.js';
import type { LoopCommand, LoopReading, Physics } from './firmware/unit-loops.js';
import { createPhysics, type PhysicsOptions } from './robot-physics.js';

/** The simulated robot without bus and daemon. It begins at rest, in manual, with torque. */
export class BareRobot {
  readonly physics: Physics;
  readonly #commands: Record<UnitName, LoopCommand>;

  constructor(options: PhysicsOptions) {
    this.physics = createPhysics(options);
    this.#commands = perUnit(unit => ({
      mode: 'manual',
      torque: true,
      gains: defaultGains(unit),
      excitation: { loop: unit.loops[0]?.name ?? '', amplitude: 0, periodS: 1 },
      rates: {},
    }));
  }

  command(unit: UnitName, change: Partial<LoopCommand>): void {
    this.#commands[unit] = { ...this.#commands[unit], ...change };
  }

  gains(unit: UnitName): GainSet {
    return this.#commands[unit].gains;
  }

  setGains(unit: UnitName, loop: string, gains: Gains): void {
    this.command(unit, { gains: { ...this.gains(unit), [loop]: gains } });
  }

  reading(unit: UnitName, loop: string): LoopReading {
    const reading = this.physics.loops[unit].readings[loop];
    if (reading === undefined) throw new RangeError(`no loop ${loop}`);
    return reading;
  }

  /** `watch` is called after every loop period. */
  run(seconds: number, watch?: () => void): void {
    const periods = Math.round(seconds * this.physics.loopRateHz);
    for (let period = 0; period < periods; period += 1) {
      this.tick();
      watch?.();
    }
  }

  /** Runs one loop period. */
  tick(): void {
    const { loops } = this.physics;
    loops.gimbal.tick(this.#commands.gimbal);
    loops.chassis.tick(this.#commands.chassis);
    this.physics.step();
  }

  /** Excites the loop in debug mode. Returns the figures of the second step, from plus the amplitude to minus the amplitude. */
  step(unit: UnitName, loop: string, amplitude: number, periodS: number): StepFigures {
    this.command(unit, { mode: 'debug' });
    this.run(0.2);
    this.command(unit, { excitation: { loop, amplitude, periodS } });
    const reading = this.reading(unit, loop);
    this.run(periodS / 2);
    const oldSetpoint = reading.setpoint;
    const measured: number[] = [];
    this.run(periodS / 2, () => measured.push(reading.measured));
    const { setpoint } = reading;
    return stepFigures({ measured, periodS: 1 / this.physics.loopRateHz, oldSetpoint, setpoint });
  }
}
