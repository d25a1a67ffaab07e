#!/usr/bin/env node
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { simulatorSocket } from '../src/access/root-socket.js';
import { command, runProgram } from '../src/command/command.js';
import { configOf, SIMULATOR } from '../src/command/place.js';
import { serveOptions } from '../src/command/serve-command.js';
import { badConfig } from '../src/config/config-file.js';
import { systemClock } from '../src/core/clock.js';
import { serveRobot } from '../src/daemon/run.js';
import { coreModule, createCoreRobot } from './core/core-robot.js';
import { createPhysics } from './robot-physics.js';
import { simRoutes } from './sim-routes.js';
import { SimulatedRobot } from './simulated-robot.js';

const isCheckout = ['start', 'dev'].includes(process.env.npm_lifecycle_event ?? '');
const name = isCheckout ? 'npm start --' : 'trunnion-sim';

/** The C core, compiled by scripts/firmware/core. */
const coreFile = join(dirname(realpathSync(process.argv[1] ?? '.')), '../firmware/core.wasm');

/** Throws `bad-config`. */
function simulatedRobot(controllers: string): SimulatedRobot {
  const options = { seed: 1 };
  if (controllers === 'simulated')
    return new SimulatedRobot({ clock: systemClock, physics: createPhysics(options) });
  if (controllers !== 'core') throw badConfig(['--controllers takes simulated or core']);
  if (!existsSync(coreFile)) throw badConfig(['compile the core first: scripts/firmware/core']);
  return new SimulatedRobot({ clock: systemClock, ...createCoreRobot(coreModule(coreFile), options) });
}

const serve = command(
  {
    command: 'serve',
    about: 'Serve a simulated robot: the same daemon, on fake buses with physics behind them',
    options: {
      ...serveOptions(SIMULATOR),
      controllers: {
        type: 'string',
        value: 'simulated|core',
        about: 'core runs the firmware of firmware/core',
        default: 'simulated',
      },
    },
  },
  async ({ values }) => {
    const config = configOf(SIMULATOR, values);
    const robot = simulatedRobot(values.controllers);
    await serveRobot(
      {
        another: `${name} --port 0 --state "$(mktemp -d)"`,
        open: async ({ state }) => ({
          rootSocket: simulatorSocket(state.folder),
          hardware: robot.hardware,
          extraRoutes: simRoutes(robot),
        }),
      },
      config,
    );
    return undefined;
  },
);

// There is no await here: the package has this file as CommonJS, which has no top-level await.
void runProgram({ name, about: 'Trunnion on a simulated robot.', commands: [serve] }, process.argv.slice(2));
