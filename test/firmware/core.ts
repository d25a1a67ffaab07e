import { coreModule } from '../../sim/pico/core-robot.js';

/** The core as scripts/firmware/core compiled it. */
export const core = coreModule('dist/firmware/core.wasm');
