#!/usr/bin/env node
import { join } from 'node:path';
import { breakGlassPath } from './access/break-glass.js';
import type { Interlock } from './config/settings.js';
import { systemClock } from './core/clock.js';
import { FIELD_HELP, fieldCommand } from './daemon/field-command.js';
import { run } from './daemon/run.js';
import { doctorCommand } from './doctor/doctor.js';
import { openLinuxHardware } from './hardware/linux-hardware.js';

/** Set by systemd. trunnion-dark reads the laser's record there. */
const runtimeFolder = process.env.RUNTIME_DIRECTORY;

const CONFIG_FILE = '/etc/trunnion/config.yaml';
const STATE_FOLDER = '/var/lib/trunnion';

const pin = ({ gpio, activeLow }: Interlock) => ({ bcm: gpio, activeLow });

// No top-level await: the package is CommonJS.
void run(
  {
    name: 'trunnion [serve | doctor [--json] | token … | stop | unlock | match end | log verify …]',
    about: `The daemon of a robot: serve runs it, doctor looks at what goes wrong on a new board.

${FIELD_HELP}`,
    defaults: { host: '0.0.0.0', state: STATE_FOLDER },
    configFile: CONFIG_FILE,
    commands: { doctor: doctorCommand },
    beside: args => fieldCommand(args, { configFile: CONFIG_FILE, state: STATE_FOLDER }),
    open: async ({ i2c, laser }) => ({
      breakGlass: runtimeFolder === undefined ? undefined : breakGlassPath(runtimeFolder),
      hardware: await openLinuxHardware({
        i2cBus: i2c.bus,
        laser: pin(laser),
        interlock: laser.interlock === null ? undefined : pin(laser.interlock),
        clock: systemClock,
        record: runtimeFolder === undefined ? undefined : join(runtimeFolder, 'laser'),
      }),
    }),
  },
  process.argv.slice(2),
);
