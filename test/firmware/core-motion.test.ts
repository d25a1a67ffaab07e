import { createCoreRobot } from '../../sim/core/core-robot.js';
import { motionsOf } from '../support/motions.js';
import { core } from './core.js';

describe('the C core of the firmware', () => {
  motionsOf(unit => {
    const { physics, controller: make } = createCoreRobot(core, { seed: 1 });
    const controller = make(unit);
    return {
      controller,
      mechanics: physics.mechanics,
      period: isBlocked => {
        controller.tick();
        if (!isBlocked) physics.step();
      },
    };
  });
});
