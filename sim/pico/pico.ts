import { BasePeripheral, type Peripheral, type RP2040, Simulator } from 'rp2040js';
import { I2cTarget } from './i2c-target.js';
import { BOOT2_BYTES, type PicoImage } from './pico-image.js';

const RAM = 0x20000000;
/** The bootrom copies the first block of the flash here, and jumps to it. */
const BOOT2 = 0x20041f00;

/** Peripherals, as rp2040js numbers them. */
const I2C0 = 0x40044;
const I2C0_IRQ = 23;
const PWM = 0x40050;
const CLOCKS = 0x40008;
const CLOCK_RUNS = 1 << 11;
const RESETS = 0x4000c;
const RESET_I2C0 = 1 << 3;
const RESETS_DONE = 0x08;
/** The blocks with a clock of their own, by the bit of their reset and the register of their clock. */
const OWN_CLOCKS = { adc: { bit: 1 << 0, clock: 0x60 }, uart0: { bit: 1 << 22, clock: 0x48 } };
const WATCHDOG = 0x40058;
const WATCHDOG_SCRATCH = { first: 0x0c, last: 0x28 };
const ROSC = 0x40060;
const ROSC_RANDOMBIT = 0x1c;
const CHIP_RESET = 0x40064;
const CHIP_RESET_POWER = { offset: 0x08, value: 1 << 8 };
const SYSTICK_EXCEPTION = 15;
const INTERRUPT_EXCEPTIONS = 16;
/** Cycles of a Cortex-M0+ from the interrupt to its handler, and back. rp2040js does not count them. */
const ENTRY_CYCLES = 15;
const RETURN_CYCLES = 13;

/** The watchdog of rp2040js. */
interface Watchdog extends Peripheral {
  reason: number;
  tickEnable: boolean;
  onWatchdogTrigger: () => void;
}

function isWatchdog(peripheral: Peripheral | undefined): peripheral is Watchdog {
  return peripheral !== undefined && 'onWatchdogTrigger' in peripheral && 'reason' in peripheral;
}

/** Registers that only keep their values. */
class Registers extends BasePeripheral {
  readonly #values = new Map<number, number>();

  override readUint32(offset: number): number {
    return this.#values.get(offset) ?? 0;
  }

  override writeUint32(offset: number, value: number): void {
    this.#values.set(offset, value >>> 0);
  }
}

/** The ring oscillator, as a source of random bits. */
class Rosc extends Registers {
  readonly #random: () => number;

  constructor(rp2040: RP2040, random: () => number) {
    super(rp2040, 'ROSC');
    this.#random = random;
  }

  override readUint32(offset: number): number {
    return offset === ROSC_RANDOMBIT ? Math.floor(2 * this.#random()) : super.readUint32(offset);
  }
}

/**
 * A processor with its peripherals, from one reset to the next. The memory and the watchdog of the chip `before` survive
 * a reset by the watchdog.
 */
function powered(
  image: Uint8Array,
  random: () => number,
  before: { readonly rp2040: RP2040; readonly watchdog: Watchdog } | undefined,
) {
  const { rp2040, clock } = new Simulator();
  const warnings: string[] = [];
  const warn = (part: string, text: string) => void warnings.push(`${part}: ${text}`);
  const silent = () => undefined;
  rp2040.logger = { debug: silent, info: silent, warn, error: warn };
  rp2040.onBreak = code => warn('processor', `breakpoint ${code}`);
  const i2c = new I2cTarget(rp2040, 'I2C0', I2C0_IRQ);
  const pwm = new Registers(rp2040, 'PWM');
  const cause = new Registers(rp2040, 'CHIP_RESET');
  cause.writeUint32(CHIP_RESET_POWER.offset, CHIP_RESET_POWER.value);
  const rosc = new Rosc(rp2040, random);
  Object.assign(rp2040.peripherals, { [I2C0]: i2c, [PWM]: pwm, [ROSC]: rosc, [CHIP_RESET]: cause });
  const watchdog = rp2040.peripherals[WATCHDOG];
  if (!isWatchdog(watchdog)) throw new TypeError('rp2040js has another watchdog');
  watchdog.tickEnable = false;
  // rp2040js would run the state machines in real time.
  for (const pio of rp2040.pio) pio.run = silent;
  for (let at = 0; at < rp2040.sram.length; at += 1)
    rp2040.sram[at] = before?.rp2040.sram[at] ?? random() * 256;
  if (before !== undefined) {
    watchdog.reason = before.watchdog.reason;
    for (let at = WATCHDOG_SCRATCH.first; at <= WATCHDOG_SCRATCH.last; at += 4)
      watchdog.writeUint32(at, before.watchdog.readUint32(at));
  }
  // rp2040js only stores the reset bits, and resets no peripheral.
  const { [RESETS]: resets, [CLOCKS]: clocks } = rp2040.peripherals;
  if (resets === undefined || clocks === undefined) throw new TypeError('rp2040js has no resets or clocks');
  const reset = resets.writeUint32;
  resets.writeUint32 = (offset, value) => {
    if (offset === 0 && (value & RESET_I2C0) !== 0) i2c.reset();
    reset.call(resets, offset, value);
  };
  const shown = resets.readUint32;
  resets.readUint32 = offset => {
    if (offset !== RESETS_DONE) return shown.call(resets, offset);
    // A block with a clock of its own leaves its reset only while that clock runs.
    const stopped = Object.values(OWN_CLOCKS).filter(({ clock }) => !(clocks.readUint32(clock) & CLOCK_RUNS));
    return stopped.reduce((done, { bit }) => done & ~bit, ~shown.call(resets, 0));
  };
  // Writes to RAM directly. rp2040js looks for a peripheral first, which is slow.
  const store = rp2040.writeUint32;
  rp2040.writeUint32 = (address, value) => {
    const at = (address >>> 0) - RAM;
    if (at >= 0 && at < rp2040.sram.length) rp2040.sramView.setUint32(at, value, true);
    else store.call(rp2040, address, value);
  };
  const { core } = rp2040;
  const measured = {
    extraCycles: 0,
    periodBeganNs: undefined as number | undefined,
    periodNs: 0,
    handlerNs: 0,
  };
  const enter = core.exceptionEntry;
  let handlerBeganNs = 0;
  core.exceptionEntry = exception => {
    if (exception === SYSTICK_EXCEPTION) measured.periodBeganNs ??= clock.nanos;
    handlerBeganNs = clock.nanos;
    measured.extraCycles += ENTRY_CYCLES;
    enter.call(core, exception);
  };
  const leave = core.exceptionReturn;
  core.exceptionReturn = address => {
    measured.extraCycles += RETURN_CYCLES;
    const ns = clock.nanos - handlerBeganNs + (1e9 * RETURN_CYCLES) / rp2040.clkSys;
    if (core.IPSR === INTERRUPT_EXCEPTIONS + I2C0_IRQ) measured.handlerNs = Math.max(measured.handlerNs, ns);
    leave.call(core, address);
  };
  // The bootrom starts the program.
  rp2040.flash.set(image);
  rp2040.sram.set(image.subarray(0, BOOT2_BYTES), BOOT2 - RAM);
  Object.assign(core, { SP: BOOT2, LR: 0, PC: BOOT2 });
  return { rp2040, clock, i2c, pwm, watchdog, warnings, measured };
}

type Chip = ReturnType<typeof powered>;

/** A Raspberry Pi Pico that runs a firmware image in emulated time. */
export class Pico {
  readonly image: PicoImage;
  readonly #random: () => number;
  /** The place in RAM of `newest`, the last member of `motor`. Three bytes of padding follow it. */
  readonly #newest: number;
  /** The chip since its last reset. */
  chip: Chip;
  #sinceNs = 0;
  #heldUntilNs = 0;
  #heldAsleep = false;
  resets = 0;
  /** Called when a processor starts. */
  onStart: () => void = () => undefined;
  /** Called when the processor goes to sleep after a loop period. */
  onPeriod: () => void = () => undefined;
  /** Called when the loop publishes its state. */
  onPublished: () => void = () => undefined;

  constructor(image: PicoImage, random: () => number) {
    this.image = image;
    this.#random = random;
    const { address, bytes } = this.#placeOf('motor');
    this.#newest = address + bytes - 4 - RAM;
    this.chip = this.#made(undefined);
  }

  /** Cuts the power and restores it. */
  power(): void {
    this.#start(undefined);
  }

  #start(before: Chip | undefined): void {
    this.#sinceNs += this.chip.clock.nanos;
    this.#heldUntilNs = 0;
    this.chip = this.#made(before);
    this.onStart();
  }

  #made(before: Chip | undefined): Chip {
    const chip = powered(this.image.bytes, this.#random, before);
    chip.watchdog.onWatchdogTrigger = () => {
      // Stops the watchdog, whose timer would trigger again and again at this instant.
      chip.watchdog.writeUint32(0, 0);
      this.resets += 1;
      this.#start(chip);
    };
    return chip;
  }

  get nowNs(): number {
    return this.#sinceNs + this.chip.clock.nanos;
  }

  /** The I2C block that the image uses. */
  get target(): I2cTarget {
    return this.chip.i2c;
  }

  get sleeps(): boolean {
    return this.chip.rp2040.core.waiting;
  }

  /** Whether an interrupt of the bus that comes now is handled before the next loop period begins. */
  get isBetweenPeriods(): boolean {
    return this.sleeps || this.staysHeld(0);
  }

  /** Whether the processor was asleep when it was held, and stays held for more than this time. */
  staysHeld(ns: number): boolean {
    return this.#heldAsleep && this.nowNs + ns < this.#heldUntilNs;
  }

  /** Holds the processor for this time. Its peripherals continue. */
  hold(ns: number): void {
    this.#heldAsleep = this.sleeps;
    this.#heldUntilNs = this.nowNs + ns;
  }

  /** Lets time pass until `untilNs`, or until `when` is true. A sleep of the processor takes one step. */
  run(untilNs: number, when: () => boolean = () => false): void {
    while (this.nowNs < untilNs && !when()) {
      const { clock, rp2040 } = this.chip;
      const { core } = rp2040;
      const leftNs = Math.min(untilNs - this.nowNs, clock.nanosToNextAlarm || Number.POSITIVE_INFINITY);
      const heldNs = this.#heldUntilNs - this.nowNs;
      if (heldNs > 0) clock.tick(Math.min(leftNs, heldNs));
      else if (core.waiting && core.interruptsUpdated && core.checkForInterrupts()) core.waiting = false;
      else if (core.waiting) clock.tick(leftNs);
      else this.#execute(untilNs - this.#sinceNs, when);
    }
  }

  /** Runs the program until the processor sleeps. */
  #execute(untilNs: number, when: () => boolean): void {
    const chip = this.chip;
    const { clock, rp2040, measured } = chip;
    const { core, sram } = rp2040;
    const cycleNs = 1e9 / rp2040.clkSys;
    let newest = sram[this.#newest];
    do {
      const cycles = core.executeInstruction() + measured.extraCycles;
      measured.extraCycles = 0;
      clock.tick(cycles * cycleNs);
      if (sram[this.#newest] !== newest) {
        newest = sram[this.#newest];
        this.onPublished();
      }
    } while (!core.waiting && clock.nanos < untilNs && !when() && this.chip === chip);
    if (!core.waiting || measured.periodBeganNs === undefined) return;
    measured.periodNs = Math.max(measured.periodNs, clock.nanos - measured.periodBeganNs);
    measured.periodBeganNs = undefined;
    this.onPeriod();
  }

  /** The bytes of a variable of the image. They change while it runs. */
  variable(name: string): Buffer {
    const { buffer, byteOffset } = this.chip.rp2040.sram;
    const { address, bytes } = this.#placeOf(name);
    return Buffer.from(buffer, byteOffset + address - RAM, bytes);
  }

  #placeOf(name: string): { readonly address: number; readonly bytes: number } {
    const place = this.image.variables.get(name);
    if (place === undefined) throw new TypeError(`the image has no variable ${name}`);
    return place;
  }
}
