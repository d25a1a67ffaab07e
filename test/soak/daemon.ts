import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createPhysics } from '../../sim/robot-physics.js';
import { simRoutes } from '../../sim/sim-routes.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { runProgram } from '../../src/command/command.js';
import { serveCommand } from '../../src/command/serve-command.js';
import { systemClock } from '../../src/core/clock.js';
import type { Entry } from '../../src/daemon/run.js';
import { get } from '../../src/http/route.js';

/** The simulator's entry, with an additional route for timers, handles and event-loop delay. */

const loopDelay = monitorEventLoopDelay({ resolution: 5 });
loopDelay.enable();
const insides = get('/soak/process', 'none', {
  id: 'soakProcess',
  summary: 'What the process holds',
  answer: { type: 'object' },
  act: () => {
    const resources = process.getActiveResourcesInfo();
    const timers = resources.filter(name => name === 'Timeout').length;
    const longestTurnMs = loopDelay.max / 1e6;
    loopDelay.reset();
    return { timers, handles: resources.length - timers, longestTurnMs };
  },
});

const entry: Entry = {
  open: async () => {
    const robot = new SimulatedRobot({ clock: systemClock, physics: createPhysics({ seed: 1 }) });
    return { hardware: robot.hardware, extraRoutes: [...simRoutes(robot), insides] };
  },
};
const serve = serveCommand({ host: '127.0.0.1', state: 'soak-state' }, entry);
await runProgram(
  { name: 'trunnion-soak', about: 'What npm run soak runs.', commands: [serve] },
  process.argv.slice(2),
);
