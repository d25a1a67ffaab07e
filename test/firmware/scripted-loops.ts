import type { LoopReading, Pose, UnitLoops } from '../../sim/firmware/unit-loops.js';
import type { Unit } from '../../src/core/units.js';
import type { Random } from '../support/random.js';

/** Readings for rounding at whole and half counts, for saturation, and for the guard. */
const READINGS = [
  0, 0.1, 0.05, -0.05, 1e-4, 5e-5, 0.25, 3.2767, 4, 1e9, -1e9, 0.3, 0.03125, -0.03125, -0.0625,
].map(Math.fround);

/** Loops with random readings. The same seed gives the same readings. */
export class ScriptedLoops implements UnitLoops {
  readonly axes = {};
  readonly readings: Record<string, LoopReading>;
  readonly #random: Random;
  edges = 0;
  #edgeChance = 0.03;
  targetVisible = false;
  pose: Pose | undefined;

  constructor({ loops, hasPose }: Unit, random: Random) {
    this.#random = random;
    this.readings = Object.fromEntries(
      loops.map(({ name }) => [name, { setpoint: 0, measured: 0, output: 0 }]),
    );
    if (hasPose) this.pose = { xM: 0, yM: 0, headingRad: 0 };
  }

  tick(): void {
    const random = this.#random;
    const reading = () => random.among(READINGS);
    if (random.chance(0.1))
      for (const name of Object.keys(this.readings))
        this.readings[name] = { setpoint: reading(), measured: reading(), output: reading() };
    if (random.chance(this.#edgeChance)) this.edges += 1;
    if (random.chance(0.001)) this.#edgeChance = random.among([0.03, 0.3]);
    if (random.chance(0.02)) this.targetVisible = !this.targetVisible;
    if (this.pose !== undefined && random.chance(0.1))
      this.pose = { xM: reading(), yM: reading(), headingRad: reading() };
  }

  dropExcitation(): void {}

  reset(): void {
    this.edges = 0;
  }
}
