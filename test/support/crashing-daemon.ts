import { createPhysics } from '../../sim/robot-physics.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { loadConfig } from '../../src/config/config.js';
import { systemClock } from '../../src/core/clock.js';
import { serve } from '../../src/daemon/serve.js';
import { createLog } from '../../src/events/log.js';

/** A daemon that meets a defect on the signal SIGUSR2, and says at its very end what level the laser's pin has. */
const [state = '', how = 'throws'] = process.argv.slice(2);
const robot = new SimulatedRobot({ clock: systemClock, physics: createPhysics({ seed: 1 }) });
process.on('SIGUSR2', () => {
  if (how === 'rejects') void Promise.reject(new Error('a defect'));
  else throw new Error('a defect');
});
await serve({
  config: loadConfig(undefined, { port: 0 }, { host: '127.0.0.1', state }),
  hardware: robot.hardware,
  log: createLog({ level: 'info' }),
  clock: systemClock,
});
process.on('exit', () => process.stderr.write(`level ${JSON.stringify(robot.truth().laser)}\n`));
