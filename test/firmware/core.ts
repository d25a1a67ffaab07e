import { coreModule } from '../../sim/pico/core-robot.js';

/** The core that scripts/firmware/core compiled. */
export const core = coreModule('dist/firmware/core.wasm');
