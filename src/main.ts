#!/usr/bin/env node
import { join } from 'node:path';
import { RUNTIME_FOLDER, rootSocket } from './access/root-socket.js';
import { runProgram } from './command/command.js';
import { robotProgram } from './command/robot-commands.js';
import type { Interlock } from './config/settings.js';
import { systemClock } from './core/clock.js';
import { openLinuxBus, openLinuxHardware } from './hardware/linux-hardware.js';

/**
 * The service's folder below /run, from systemd. The daemon records the laser pin's line and dark level in
 * it, for trunnion-dark. A daemon that was started by hand records nothing.
 */
const runtimeFolder = process.env.RUNTIME_DIRECTORY;

/** Set by the unit file. */
const marks = process.env.TRUNNION_MARKS;

const pin = ({ gpio, activeLow }: Interlock) => ({ bcm: gpio, activeLow });

const program = robotProgram({
  openBus: openLinuxBus,
  open: async ({ i2c, laser }) => ({
    rootSocket: rootSocket(runtimeFolder ?? RUNTIME_FOLDER),
    marks,
    hardware: await openLinuxHardware({
      i2cBus: i2c.bus,
      laser: pin(laser),
      interlock: laser.interlock === null ? undefined : pin(laser.interlock),
      clock: systemClock,
      record: runtimeFolder === undefined ? undefined : join(runtimeFolder, 'laser'),
    }),
  }),
});

// No top-level await: the package is CommonJS.
void runProgram(program, process.argv.slice(2));
