import { RobotError } from '../core/errors.js';
import type { GpioNative } from './gpio.js';
import type { I2cNative } from './i2c.js';

export function loadI2c(): Promise<I2cNative | RobotError<'addon-missing'>> {
  return load('i2c-bus', module => isI2c(module));
}

export function loadGpio(): Promise<GpioNative | RobotError<'addon-missing'>> {
  return load('onoff', module => isGpio(module));
}

function isI2c(module: object): module is I2cNative {
  return 'openSync' in module;
}

function isGpio(module: object): module is GpioNative {
  return 'Gpio' in module;
}

/**
 * Optional modules: where they could not be built there are neither files nor types, so that the name is no literal
 * and the shape is looked at. The reason of a failure is returned, for use when something asks for the hardware.
 */
async function load<T>(
  name: string,
  fits: (module: object) => module is object & T,
): Promise<T | RobotError<'addon-missing'>> {
  try {
    const module: object = await import(name);
    if (fits(module)) return module;
    throw new TypeError(`${name} has another shape`);
  } catch (cause) {
    return new RobotError(
      'addon-missing',
      {
        missing: `The addon ${name} cannot be loaded with Node ${process.versions.node}`,
        cure:
          'Install it: sudo apt install --reinstall ./trunnion_*.deb, ' +
          'or in a checkout sudo apt install build-essential python3, then npm ci.',
      },
      { cause },
    );
  }
}
