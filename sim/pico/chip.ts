import { BasePeripheral, type Peripheral, type RP2040, Simulator } from 'rp2040js';
import { I2cTarget } from './i2c-target.js';
import { BOOT2_BYTES } from './pico-image.js';

/** The address of the RAM. */
export const RAM = 0x20000000;
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

const nothing = () => undefined;

/**
 * A processor with its peripherals, from one reset to the next. The memory and the watchdog of the chip `before` survive
 * a reset by the watchdog.
 */
export function powered(
  image: Uint8Array,
  random: () => number,
  before: { readonly rp2040: RP2040; readonly watchdog: Watchdog } | undefined,
) {
  const { rp2040, clock } = new Simulator();
  const warnings = collectWarnings(rp2040);
  const i2c = new I2cTarget(rp2040, 'I2C0', I2C0_IRQ);
  const pwm = new Registers(rp2040, 'PWM');
  const cause = new Registers(rp2040, 'CHIP_RESET');
  cause.writeUint32(CHIP_RESET_POWER.offset, CHIP_RESET_POWER.value);
  const rosc = new Rosc(rp2040, random);
  Object.assign(rp2040.peripherals, { [I2C0]: i2c, [PWM]: pwm, [ROSC]: rosc, [CHIP_RESET]: cause });
  const watchdog = watchdogOf(rp2040, before?.watchdog);
  stopStateMachines(rp2040);
  fillMemory(rp2040, byte => before?.rp2040.sram[byte] ?? random() * 256);
  resetPeripherals(rp2040, i2c);
  writeMemoryDirectly(rp2040);
  const measured = measureHandlers(rp2040, clock);
  boot(rp2040, image);
  return { rp2040, clock, i2c, pwm, watchdog, warnings, measured };
}

export type Chip = ReturnType<typeof powered>;

function collectWarnings(rp2040: RP2040): readonly string[] {
  const warnings: string[] = [];
  const warn = (part: string, text: string) => void warnings.push(`${part}: ${text}`);
  rp2040.logger = { debug: nothing, info: nothing, warn, error: warn };
  rp2040.onBreak = code => warn('processor', `breakpoint ${code}`);
  return warnings;
}

/** The watchdog. It keeps the reason and the scratch registers of the watchdog `before`. */
function watchdogOf(rp2040: RP2040, before: Watchdog | undefined): Watchdog {
  const watchdog = rp2040.peripherals[WATCHDOG];
  if (!isWatchdog(watchdog)) throw new TypeError('rp2040js has another watchdog');
  watchdog.tickEnable = false;
  if (before === undefined) return watchdog;
  watchdog.reason = before.reason;
  for (let at = WATCHDOG_SCRATCH.first; at <= WATCHDOG_SCRATCH.last; at += 4)
    watchdog.writeUint32(at, before.readUint32(at));
  return watchdog;
}

/** rp2040js would run the state machines in real time. */
function stopStateMachines(rp2040: RP2040): void {
  for (const pio of rp2040.pio) pio.run = nothing;
}

function fillMemory({ sram }: RP2040, content: (at: number) => number): void {
  for (let at = 0; at < sram.length; at += 1) sram[at] = content(at);
}

/** rp2040js only stores the reset bits, and resets no peripheral. */
function resetPeripherals({ peripherals }: RP2040, i2c: I2cTarget): void {
  const { [RESETS]: resets, [CLOCKS]: clocks } = peripherals;
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
}

/** rp2040js looks for a peripheral before it writes to RAM, which is slow. */
function writeMemoryDirectly(rp2040: RP2040): void {
  const store = rp2040.writeUint32;
  rp2040.writeUint32 = (address, value) => {
    const at = (address >>> 0) - RAM;
    if (at >= 0 && at < rp2040.sram.length) rp2040.sramView.setUint32(at, value, true);
    else store.call(rp2040, address, value);
  };
}

/** Counts the cycles of interrupts, and measures loop periods and the bus handler. */
function measureHandlers(rp2040: RP2040, clock: Simulator['clock']) {
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
  return measured;
}

/** Starts the program, as the bootrom does. */
function boot({ flash, sram, core }: RP2040, image: Uint8Array): void {
  flash.set(image);
  sram.set(image.subarray(0, BOOT2_BYTES), BOOT2 - RAM);
  Object.assign(core, { SP: BOOT2, LR: 0, PC: BOOT2 });
}
