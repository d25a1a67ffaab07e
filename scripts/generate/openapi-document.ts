import { pino } from 'pino';
import { createPhysics } from '../../sim/robot-physics.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { loadConfig } from '../../src/config/config.js';
import { systemClock } from '../../src/core/clock.js';
import { start } from '../../src/daemon/start.js';
import { withFolder } from '../script.js';

/** The OpenAPI document of a daemon with the default configuration, indented for people. */
export function openApiDocument(): Promise<string> {
  return withFolder('openapi', async state => {
    const { hardware } = new SimulatedRobot({ clock: systemClock, physics: createPhysics({ seed: 1 }) });
    const daemon = await start({
      config: loadConfig(undefined, { port: 0 }, { host: '127.0.0.1', state }),
      hardware,
      log: pino({ enabled: false }),
      clock: systemClock,
    });
    try {
      const answer = await fetch(new URL('/api/openapi.json', daemon.url));
      return `${JSON.stringify(await answer.json(), null, 2)}\n`;
    } finally {
      await daemon.close();
    }
  });
}
