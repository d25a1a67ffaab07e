#!/usr/bin/env node
import { homedir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../src/core/clock.js';
import { run } from '../src/daemon/run.js';
import { createPhysics } from './robot-physics.js';
import { simRoutes } from './sim-routes.js';
import { SimulatedRobot } from './simulated-robot.js';

const stateHome = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');

const isCheckout = ['start', 'dev'].includes(process.env.npm_lifecycle_event ?? '');
const command = isCheckout ? 'npm start --' : 'trunnion-sim';

// No await: the package holds this in CommonJS, which has none at the top of a file.
void run(
  {
    name: 'trunnion-sim',
    about: 'Trunnion on a simulated robot: the same daemon, on fake buses with physics behind them.',
    defaults: { host: '127.0.0.1', state: join(stateHome, 'trunnion-sim') },
    another: `${command} --port 0 --state "$(mktemp -d)"`,
    commands: {},
    open: async () => {
      const robot = new SimulatedRobot({ clock: systemClock, physics: createPhysics({ seed: 1 }) });
      return { hardware: robot.hardware, extraRoutes: simRoutes(robot) };
    },
  },
  process.argv.slice(2),
);
