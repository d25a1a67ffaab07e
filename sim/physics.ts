import { perUnit, type Unit } from '../src/units.js';
import type { LoopCommand, LoopReading, Physics, Pose, UnitLoops } from './unit-loops.js';

const LOOP_RATE_HZ = 1000;

/** Every loop a first-order lag of its setpoint. */
class LaggingLoops implements UnitLoops {
  readonly readings: Record<string, { -readonly [K in keyof LoopReading]: LoopReading[K] }>;
  readonly pose: Pose | undefined;
  readonly targetVisible = true;
  readonly #unit: Unit;
  #edges = 0;
  #excitedS = 0;

  constructor(unit: Unit) {
    this.#unit = unit;
    this.readings = Object.fromEntries(
      unit.loops.map(loop => [loop.name, { setpoint: 0, measured: 0, output: 0 }]),
    );
    this.pose = unit.hasPose ? { xM: 0, yM: 0, headingRad: 0 } : undefined;
  }

  get edges(): number {
    return this.#edges;
  }

  get axes(): Readonly<Record<string, unknown>> {
    return {};
  }

  tick({ mode, torque, excitation }: LoopCommand): void {
    const excites = mode === 'debug' && torque && excitation.amplitude !== 0;
    this.#excitedS = excites ? this.#excitedS + 1 / LOOP_RATE_HZ : 0;
    const half = excites ? 1 + Math.floor((2 * this.#excitedS) / excitation.periodS) : 0;
    for (const loop of this.#unit.loops) {
      const reading = this.readings[loop.name];
      if (reading === undefined) continue;
      const level = half % 2 === 1 ? excitation.amplitude : -excitation.amplitude;
      const setpoint = excites && loop.name === excitation.loop ? level : 0;
      if (reading.setpoint !== setpoint && excites) this.#edges += 1;
      reading.setpoint = setpoint;
      reading.output = torque ? setpoint - reading.measured : 0;
      reading.measured += (reading.output * 20) / LOOP_RATE_HZ;
    }
  }

  reset(): void {
    this.#excitedS = 0;
  }
}

export function createPhysics(_options: { seed: number }): Physics {
  return {
    loops: perUnit(unit => new LaggingLoops(unit)),
    loopRateHz: LOOP_RATE_HZ,
    step: () => {},
  };
}
