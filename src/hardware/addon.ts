import { RobotError } from '../core/errors.js';
import type { GpioNative } from './gpio.js';
import type { I2cNative } from './i2c.js';

export function loadI2c(): Promise<I2cNative | RobotError<'addon-missing'>> {
  return load<I2cNative>('i2c-bus', 'openSync');
}

export function loadGpio(): Promise<GpioNative | RobotError<'addon-missing'>> {
  return load<GpioNative>('onoff', 'Gpio');
}

/**
 * Loads an optional module. If npm could not build the module, TypeScript has no types for it, so its shape is
 * checked here. If it cannot be loaded, resolves with the reason, which is reported when something uses the hardware.
 */
async function load<T extends object>(
  name: string,
  member: keyof T,
): Promise<T | RobotError<'addon-missing'>> {
  try {
    const module: object = await import(name);
    if (has<T>(module, member)) return module;
    throw new TypeError(`${name} has another shape`);
  } catch (cause) {
    const missing = `The addon ${name} cannot be loaded with Node ${process.versions.node}`;
    const cure =
      'Install it: sudo apt install --reinstall ./trunnion_*.deb, ' +
      'or in a checkout sudo apt install build-essential python3, then npm ci.';
    return new RobotError('addon-missing', { missing, cure }, { cause });
  }
}

function has<T extends object>(module: object, member: keyof T): module is T {
  return member in module;
}
