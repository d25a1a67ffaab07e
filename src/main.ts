#!/usr/bin/env node
import { join } from 'node:path';
import type { Interlock } from './config/settings.js';
import { systemClock } from './core/clock.js';
import { run } from './daemon/run.js';
import { doctorCommand } from './doctor/doctor.js';
import { openLinuxHardware } from './hardware/linux-hardware.js';

/** systemd's, where it brings one: trunnion-dark looks there. */
const runtimeFolder = process.env.RUNTIME_DIRECTORY;

const pin = ({ gpio, activeLow }: Interlock) => ({ bcm: gpio, activeLow });

await run(
  {
    name: 'trunnion [serve | doctor [--json]]',
    about: 'The daemon of a robot: serve runs it, doctor looks at what goes wrong on a new board.',
    defaults: { host: '0.0.0.0', state: '/var/lib/trunnion' },
    configFile: '/etc/trunnion/config.yaml',
    commands: { doctor: doctorCommand },
    open: async ({ i2c, laser }) => ({
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
