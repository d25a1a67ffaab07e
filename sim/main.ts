#!/usr/bin/env node
import { existsSync, realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../src/core/clock.js';
import { run } from '../src/daemon/run.js';
import { coreModule, createCoreRobot } from './pico/core-robot.js';
import { createPhysics } from './robot-physics.js';
import { simRoutes } from './sim-routes.js';
import { SimulatedRobot } from './simulated-robot.js';

const stateHome = process.env.XDG_STATE_HOME ?? join(homedir(), '.local', 'state');

const isCheckout = ['start', 'dev'].includes(process.env.npm_lifecycle_event ?? '');
const command = isCheckout ? 'npm start --' : 'trunnion-sim';

/** The C core, compiled by scripts/firmware/core. */
const coreFile = join(dirname(realpathSync(process.argv[1] ?? '.')), '../firmware/core.wasm');

function simulatedRobot(onCore: boolean): SimulatedRobot {
  const options = { seed: 1 };
  if (!onCore) return new SimulatedRobot({ clock: systemClock, physics: createPhysics(options) });
  return new SimulatedRobot({ clock: systemClock, ...createCoreRobot(coreModule(coreFile), options) });
}

const asked = process.argv.slice(2);
const at = asked.indexOf('--controllers');
const [, controllers = 'simulated'] = at < 0 ? [] : asked.splice(at, 2);
if (!['simulated', 'core'].includes(controllers)) refuse('--controllers takes simulated or core');
if (controllers === 'core' && !existsSync(coreFile)) refuse('compile the core first: scripts/firmware/core');

function refuse(why: string): never {
  process.stderr.write(`${why}\n`);
  process.exit(2);
}

// No await: the package holds this in CommonJS, which has none at the top of a file.
void run(
  {
    name: 'trunnion-sim',
    about:
      'Trunnion on a simulated robot: the same daemon, on fake buses with physics behind them.\n' +
      '--controllers core runs the firmware of firmware/core in place of the simulated one.',
    defaults: { host: '127.0.0.1', state: join(stateHome, 'trunnion-sim') },
    another: `${command} --port 0 --state "$(mktemp -d)"`,
    commands: {},
    open: async () => {
      const robot = simulatedRobot(controllers === 'core');
      return { hardware: robot.hardware, extraRoutes: simRoutes(robot) };
    },
  },
  asked,
);
