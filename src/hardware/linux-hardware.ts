import { join } from 'node:path';
import type { Clock } from '../core/clock.js';
import { isRobotError, RobotError } from '../core/errors.js';
import { PathLock, type ProcessLock } from '../storage/path-lock.js';
import { loadGpio, loadI2c } from './addon.js';
import { type GpioNative, type GpioOptions, openInterlockPin, openLaserPin, type PinChoice } from './gpio.js';
import type { InterlockPin, LaserPin } from './gpio-pin.js';
import { type I2cNative, LinuxI2cBus } from './i2c.js';
import type { Hardware, Interlock, Missing, OutputPin } from './ports.js';
import { Reopened } from './reopened.js';

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

/** The addons, or the errors with which they did not load, and the folders of the files that they use. */
interface Natives {
  readonly i2c: I2cNative | RobotError;
  readonly gpio: GpioNative | RobotError;
  readonly gpioRoot: string;
  /** The folder of the device i2c-N. */
  readonly deviceFolder: string;
}

/**
 * Opens the hardware. Using a missing part fails with the reason, and the part is opened again later. Rejects with
 * `bus-in-use` before it touches anything if another process drives the robot.
 */
export async function openLinuxHardware(options: LinuxHardwareOptions): Promise<Hardware> {
  const [i2c, gpio] = await Promise.all([loadI2c(), loadGpio()]);
  return openOn({ i2c, gpio, gpioRoot: GPIO_ROOT, deviceFolder: '/dev' }, options);
}

export async function openOn(natives: Natives, options: LinuxHardwareOptions): Promise<Hardware> {
  const hardware = new LinuxHardware(natives, options);
  await hardware.start();
  return hardware;
}

class LinuxHardware implements Hardware {
  readonly simulated = false;
  readonly bus: LinuxI2cBus;
  readonly interlock?: Interlock;
  readonly #laserLine: Reopened<LaserPin>;
  readonly #interlockLine: Reopened<InterlockPin> | undefined;
  readonly #onOpen = new Set<() => void>();

  constructor(natives: Natives, { i2cBus, laser, interlock, clock, record }: LinuxHardwareOptions) {
    this.bus = new LinuxI2cBus(natives.i2c, i2cBus, busLock(natives.deviceFolder, i2cBus));
    const gpio = (): GpioOptions => {
      if (natives.gpio instanceof RobotError) throw natives.gpio;
      return { native: natives.gpio, root: natives.gpioRoot, clock, record };
    };
    this.#laserLine = new Reopened({
      open: async () => openLaserPin(gpio(), laser),
      clock,
      onLost: () => {},
    });
    if (interlock === undefined) return;
    const line: Reopened<InterlockPin> = new Reopened({
      open: async () => openInterlockPin(gpio(), interlock, () => this.#interlockEdge()),
      clock,
      onLost: () => this.#interlockOpened(),
    });
    this.#interlockLine = line;
    this.interlock = {
      isClosed: () => line.use(pin => pin.isClosed()),
      onOpen: listener => this.#onOpen.add(listener),
    };
  }

  /** Evaluated at every use, because a missing pin may appear later. */
  get laser(): OutputPin | Missing {
    return this.#laserLine.missing ?? this.#laserPin;
  }

  async start(): Promise<void> {
    await this.bus.open().catch((error: unknown) => {
      if (isRobotError(error, 'bus-in-use')) throw error;
    });
    await Promise.all([this.#laserLine.start(), this.#interlockLine?.start()]);
  }

  /**
   * onoff closes the laser's descriptor only by giving the line back, which may change its level: it stays open, and can
   * be darkened, to the end of the process.
   */
  async close(): Promise<void> {
    this.#laserLine.close({ release: false });
    this.#interlockLine?.close({ release: true });
    await this.bus.close();
  }

  readonly #laserPin: OutputPin = {
    write: on => this.#laserLine.use(pin => pin.write(on)),
    read: () => this.#laserLine.use(pin => pin.read()),
  };

  /**
   * An edge after which the contact reads closed may come from an opening too short to be seen, so it counts as one.
   */
  #interlockEdge(): void {
    try {
      this.interlock?.isClosed();
    } catch {
      // The line is lost. Its listeners have been called for that.
      return;
    }
    this.#interlockOpened();
  }

  #interlockOpened(): void {
    for (const listener of this.#onOpen) listener();
  }
}

function busLock(deviceFolder: string, bus: number): ProcessLock {
  const cure = 'End the other daemon first: sudo systemctl stop trunnion.';
  return new PathLock(join(deviceFolder, `i2c-${bus}`), () => new RobotError('bus-in-use', { bus, cure }));
}
