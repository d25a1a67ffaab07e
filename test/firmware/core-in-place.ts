import { Core } from '../../sim/core/core.js';
import type { UnitLoops } from '../../sim/firmware/unit-loops.js';
import type { Unit } from '../../src/core/units.js';
import { core } from './core.js';

/** Replaces the simulated controller in a test. Frames of the core take effect in the next loop period. */
export class SimulatedController extends Core {
  constructor(unit: Unit, loops: UnitLoops) {
    super(core, unit, {}, loops);
  }
}
