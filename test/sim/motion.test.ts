import { SimulatedController } from '../../sim/firmware/simulated-controller.js';
import { createPhysics } from '../../sim/robot-physics.js';
import { motionsOf } from '../support/motions.js';

describe('the simulated firmware', () => {
  motionsOf(unit => {
    const { loops, loopRateHz, mechanics, step } = createPhysics({ seed: 1 });
    const controller = new SimulatedController(unit, loops[unit.name], loopRateHz, 1);
    return {
      controller,
      mechanics,
      period: isBlocked => {
        controller.tick();
        if (!isBlocked) step();
      },
    };
  });
});
