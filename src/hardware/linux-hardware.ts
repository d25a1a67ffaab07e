import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { isRobotError, type Missing, RobotError } from '../core/errors.js';
import { Listeners } from '../core/listeners.js';
import { PathLock, type ProcessLock } from '../storage/path-lock.js';
import { loadGpio, loadI2c } from './addon.js';
import { type GpioNative, type GpioOptions, openInterlockPin, openLaserPin, type PinChoice } from './gpio.js';
import type { Pin } from './gpio-line.js';
import { type I2cNative, LinuxI2cBus } from './i2c.js';
import type { Hardware, Interlock, OutputPin } from './ports.js';
import { reopened } from './reopened.js';

export const GPIO_ROOT = '/sys/class/gpio';

interface LinuxHardwareOptions {
  /** The N of /dev/i2c-N. */
  readonly i2cBus: number;
  readonly laser: PinChoice;
  readonly interlock?: PinChoice;
  readonly clock: Clock;
  /** See GpioOptions. */
  readonly record?: string;
}

/**
 * The addons, or the errors that explain why they did not load, and the folders of the files that the addons
 * use.
 */
interface Natives {
  readonly i2c: I2cNative | RobotError;
  readonly gpio: GpioNative | RobotError;
  readonly gpioRoot: string;
  /** The folder of the device i2c-N. */
  readonly deviceFolder: string;
}

/**
 * Opens the hardware. Using a missing part fails with the reason, and the daemon tries to open it again later. If
 * another process drives the robot, rejects with `bus-in-use` before it touches anything.
 */
export async function openLinuxHardware(options: LinuxHardwareOptions): Promise<Hardware> {
  const [i2c, gpio] = await Promise.all([loadI2c(), loadGpio()]);
  return openOn({ i2c, gpio, gpioRoot: GPIO_ROOT, deviceFolder: '/dev' }, options);
}

/** Opens one bus for this process alone, and nothing else. Rejects with the bus codes. */
export async function openLinuxBus(number: number): Promise<LinuxI2cBus> {
  const bus = new LinuxI2cBus(await loadI2c(), number, busLock('/dev', number));
  await bus.open();
  return bus;
}

export async function openOn(
  natives: Natives,
  { i2cBus, laser, interlock, clock, record }: LinuxHardwareOptions,
): Promise<Hardware> {
  const bus = new LinuxI2cBus(natives.i2c, i2cBus, busLock(natives.deviceFolder, i2cBus));
  const gpio = (): GpioOptions => {
    if (natives.gpio instanceof RobotError) throw natives.gpio;
    return { native: natives.gpio, root: natives.gpioRoot, clock, record };
  };
  const laserLine = reopened(clock, async () => openLaserPin(gpio(), laser));
  const laserPin: OutputPin = {
    write: on => laserLine.use(pin => pin.write(on)),
    read: () => laserLine.use(pin => pin.read()),
  };
  const contact = interlock && watchedContact(clock, onEdge => openInterlockPin(gpio(), interlock, onEdge));
  await bus.open().catch((error: unknown) => {
    if (isRobotError(error, 'bus-in-use')) throw error;
  });
  await Promise.all([laserLine.start(), contact?.line.start()]);
  return {
    simulated: false,
    bus,
    // Evaluated at every use, because a missing pin may be found later.
    get laser(): OutputPin | Missing {
      return laserLine.missing ?? laserPin;
    },
    interlock: contact?.interlock,
    // onoff can close the laser's descriptor only by giving the line back, which may change its level. So the line
    // stays open until the end of the process, and can be darkened until then.
    close: async () => {
      laserLine.close({ release: false });
      contact?.line.close({ release: true });
      await bus.close();
    },
  };
}

/** The interlock of a contact, and the line that the contact is on. */
function watchedContact(clock: Clock, open: (onEdge: () => void) => Promise<Pin>) {
  const opened = new Listeners<void>();
  const line: ReturnType<typeof reopened<Pin>> = reopened(
    clock,
    async () => open(() => onEdge()),
    () => opened.emit(),
  );
  const interlock: Interlock = {
    isClosed: () => line.use(pin => pin.read()),
    onOpen: listener => opened.add(listener),
  };
  // The contact may have opened too briefly to be read as open, so every edge counts as an opening.
  const onEdge = () => {
    try {
      interlock.isClosed();
    } catch {
      // The line is lost, and the listeners know it already.
      return;
    }
    opened.emit();
  };
  return { line, interlock };
}

function busLock(deviceFolder: string, bus: number): ProcessLock {
  const cure = 'End the other daemon first: sudo systemctl stop trunnion.';
  return new PathLock(join(deviceFolder, `i2c-${bus}`), () => new RobotError('bus-in-use', { bus, cure }));
}
