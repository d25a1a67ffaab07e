import { type Clock, pause } from '../core/clock.js';
import { RobotError } from '../core/errors.js';
import {
  type Excitation,
  type GainSet,
  type Gains,
  MODES,
  type Mode,
  type Rates,
  type Unit,
} from '../core/units.js';
import { bitNames, gainsChecksum, shortest } from '../protocol/codec.js';
import type { Link, Priority, Urgency } from '../protocol/link.js';
import {
  FAULTS,
  type FieldValues,
  FLAGS,
  gainsRegister,
  MAGIC,
  motionRegister,
  PROTOCOL_VERSION,
  REGISTERS,
  RESET_CAUSES,
  type Register,
  TAKES_EFFECT_MS,
  telemetryRegister,
} from '../protocol/registers.js';
import { type Readings, readingsOf } from '../protocol/telemetry.js';
import type { Build } from '../schemas/status.js';

export type Identity = Awaited<ReturnType<MotorController['identify']>>;

/** The content of a controller's status register. */
export interface ControllerStatus {
  readonly bootId: number;
  readonly mode: Mode;
  readonly flags: readonly (typeof FLAGS)[number][];
  readonly faults: readonly (typeof FAULTS)[number][];
  readonly activeChecksum: number;
  /** The number of the newest step capture. */
  readonly capture: number;
}

/** An excitation with the guard of a trial. */
export interface GuardedExcitation extends Excitation {
  /**
   * The controller ends the excitation if the measured value is further than this from the setpoint; 0 = no
   * guard.
   */
  readonly deviation: number;
}

interface ControllerOptions {
  readonly unit: Unit;
  readonly link: Link;
  readonly clock: Clock;
  /** Called with every status that is read, before the caller of `status` gets it. */
  readonly onStatus?: (status: ControllerStatus) => void;
}

/** The conditions for the frames of one act. */
export interface Terms {
  /** No frame starts after this time (Clock milliseconds). */
  readonly untilMs: number;
  /** Called before each write. Throws if the write is no longer due. */
  readonly requireDue: () => void;
  /** True if earlier frames may still take effect. A read-back then counts only once they no longer can. */
  readonly unsettled?: boolean;
}

/** The pause between two reads that check whether a frame has taken effect. */
export const READ_AGAIN_MS = 2;
/**
 * Maximum writes of a frame. The controller rejects a frame with a bad CRC, so writing it again is safe.
 * Before each rewrite, the daemon waits as long as a frame may need to take effect.
 */
const WRITES = 3;

/** Talks to one motor controller. Everything that is written is confirmed by reading it back. */
export class MotorController {
  readonly #options: ControllerOptions;
  readonly #telemetry: Register;
  readonly #motion: Register;
  #beats = 0;
  /**
   * The register of the excitation: the one with a guard if the firmware has the flag `guarded_excitation`.
   */
  #excitation: typeof REGISTERS.excitation | typeof REGISTERS.guarded_excitation = REGISTERS.excitation;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#telemetry = telemetryRegister(options.unit);
    this.#motion = motionRegister(options.unit);
  }

  /**
   * Throws `wrong-identity` unless the controller runs this unit's firmware with this version of the
   * protocol.
   */
  async identify(urgency: Urgency) {
    const found = await this.#read(REGISTERS.identity, urgency);
    const { name: unit, kind, loops } = this.#options.unit;
    const wanted = { magic: MAGIC, kind, protocol: PROTOCOL_VERSION, loops: loops.length } as const;
    for (const field of ['magic', 'kind', 'protocol', 'loops'] as const) {
      const expected = wanted[field];
      if (found[field] !== expected)
        throw new RobotError('wrong-identity', { unit, field, expected, found: found[field] });
    }
    return {
      firmware: `${found.firmware_major}.${found.firmware_minor}.${found.firmware_patch}`,
      protocol: found.protocol,
      loopRateHz: found.loop_rate_hz,
    };
  }

  async status(urgency: Urgency): Promise<ControllerStatus> {
    const found = await this.#read(REGISTERS.status, urgency);
    const status = {
      bootId: found.boot_id,
      mode: MODES[found.mode] ?? 'manual',
      flags: bitNames(FLAGS, found.flags),
      faults: bitNames(FAULTS, found.faults),
      activeChecksum: found.active_checksum,
      capture: found.capture,
    };
    const hasGuard = status.flags.includes('guarded_excitation');
    this.#excitation = hasGuard ? REGISTERS.guarded_excitation : REGISTERS.excitation;
    this.#options.onStatus?.(status);
    return status;
  }

  /** Call this only if the status has the flag `build`. */
  async build(urgency: Urgency): Promise<Build> {
    const found = await this.#read(REGISTERS.build, urgency);
    return {
      imageCrc: found.image_crc.toString(16).padStart(8, '0'),
      resetCause: Object.keys(RESET_CAUSES)[found.reset_cause] ?? 'other',
      longestLoopUs: found.longest_loop_us,
    };
  }

  async telemetry(untilMs: number): Promise<Readings> {
    const found = await this.#read(this.#telemetry, { priority: 'readings', untilMs });
    return readingsOf(this.#options.unit, found);
  }

  async heartbeat(silenceMs: number, urgency: Urgency): Promise<void> {
    this.#beats = (this.#beats + 1) & 0xff;
    await this.#write(REGISTERS.heartbeat, { count: this.#beats, silence_ms: silenceMs }, urgency);
  }

  /**
   * Sets the mode. It is read back from the status register, which polls read too, so no later poll finds an
   * older mode. Resolves with the number of frames that the controller may have received.
   */
  setMode(mode: Mode, terms: Terms): Promise<number> {
    const holds = (status: ControllerStatus) => status.mode === mode;
    return this.#confirmed(REGISTERS.mode, { mode: MODES.indexOf(mode) }, 'mode', terms, holds);
  }

  /**
   * Latches or releases. A release has the same urgency as a stop, so that the two never overtake each other.
   * Resolves as `setMode` does.
   */
  setLatch(latched: boolean, terms: Terms): Promise<number> {
    const holds = (status: ControllerStatus) => status.flags.includes('stopped') === latched;
    return this.#confirmed(REGISTERS.stop, { stop: latched ? 1 : 0 }, 'stop', terms, holds);
  }

  /**
   * Writes a motion once. `holdMs` says for how long it holds. It is called before each attempt, and may throw. `ended` is
   * called when the kernel has ended an attempt.
   */
  async move(rates: Rates, holdMs: () => number, untilMs: number, ended?: () => void): Promise<void> {
    const { link, unit } = this.#options;
    const values = () => ({ ...this.#perAxis(rates), hold_ms: holdMs() });
    await link.writeFresh(unit, this.#motion, values, { priority: 'motion', untilMs }, ended);
  }

  /** The rates in force, and for how much longer they hold. */
  async motion(untilMs: number): Promise<{ readonly rates: Rates; readonly leftMs: number }> {
    const { hold_ms: leftMs = 0, ...rates } = await this.#read(this.#motion, { priority: 'motion', untilMs });
    return { rates: this.#perAxis(rates), leftMs };
  }

  async excitation(urgency: Urgency): Promise<GuardedExcitation> {
    const found: FieldValues<typeof REGISTERS.excitation> & { deviation?: number } = await this.#read(
      this.#excitation,
      urgency,
    );
    const { slot, amplitude, period_s: periodS, deviation = 0 } = found;
    const loop = this.#options.unit.loops.find(candidate => candidate.slot === slot);
    if (loop === undefined) throw new RobotError('bad-frame', { register: 'excitation', slot });
    return { loop: loop.name, amplitude: shortest(amplitude), periodS: shortest(periodS), deviation };
  }

  async excite(excitation: GuardedExcitation, terms: Terms): Promise<void> {
    const { unit } = this.#options;
    const loop = unit.loops.find(({ name }) => name === excitation.loop);
    if (loop === undefined) throw new RobotError('bad-field', { unit: unit.name, loop: excitation.loop });
    const values = {
      slot: loop.slot,
      amplitude: Math.fround(excitation.amplitude),
      period_s: Math.fround(excitation.periodS),
      deviation: Math.fround(excitation.deviation),
    };
    await this.#confirmed(this.#excitation, values, 'mode', terms);
  }

  #perAxis(rates: Rates): Rates {
    return Object.fromEntries(this.#options.unit.axes.map(({ name }) => [name, rates[name] ?? 0]));
  }

  /** Stages the gains of every loop. None of them becomes active yet. */
  async stageGains(gains: GainSet, terms: Terms): Promise<void> {
    for (const loop of this.#options.unit.loops)
      await this.#confirmed(gainsRegister(loop.slot), onTheWire(gains[loop.name]), 'gains', terms);
  }

  /** Activates the set that was staged, and resolves when the controller shows its checksum as active. */
  async commitGains(gains: GainSet, terms: Terms): Promise<void> {
    const checksum = gainsChecksum(this.#options.unit, gains);
    const holds = (status: ControllerStatus) => status.activeChecksum === checksum;
    await this.#confirmed(REGISTERS.commit, { checksum }, 'gains', terms, holds);
  }

  /**
   * Writes until `holds` accepts the status. Without `holds`, writes until the register shows the written values.
   * Resolves with the number of frames that the controller may have received. Rejects with `not-confirmed`.
   */
  async #confirmed<R extends Register>(
    register: R,
    values: FieldValues<R>,
    priority: Priority,
    { untilMs, requireDue, unsettled = false }: Terms,
    holds?: (status: ControllerStatus) => boolean,
  ): Promise<number> {
    const { unit, clock } = this.#options;
    const urgency: Urgency = { priority, untilMs };
    const isShown = async () =>
      holds === undefined ? this.#shows(register, values, urgency) : holds(await this.status(urgency));
    let believedFromMs = 0;
    let frames = 0;
    for (let writes = 1; writes <= WRITES && clock.nowMs() < untilMs; writes += 1) {
      requireDue();
      frames += await this.#write(register, values, urgency);
      if (unsettled) believedFromMs = clock.nowMs() + TAKES_EFFECT_MS;
      const isLast = writes === WRITES;
      const readUntilMs = isLast ? untilMs : Math.min(untilMs, clock.nowMs() + TAKES_EFFECT_MS);
      for (;;) {
        const nowMs = clock.nowMs();
        if ((await isShown()) && nowMs >= believedFromMs) return frames;
        if (nowMs >= readUntilMs) break;
        await pause(clock, READ_AGAIN_MS);
      }
    }
    throw new RobotError('not-confirmed', { unit: unit.name, register: register.name });
  }

  async #shows<R extends Register>(register: R, values: FieldValues<R>, urgency: Urgency): Promise<boolean> {
    const found = await this.#read(register, urgency);
    const [shown, written]: Readonly<Record<string, number>>[] = [found, values];
    return register.fields.every(({ name }) => shown?.[name] === written?.[name]);
  }

  #read<R extends Register>(register: R, urgency: Urgency): Promise<FieldValues<R>> {
    return this.#options.link.read(this.#options.unit, register, urgency);
  }

  #write<R extends Register>(register: R, values: FieldValues<R>, urgency: Urgency): Promise<number> {
    return this.#options.link.write(this.#options.unit, register, values, urgency);
  }
}

function onTheWire(gains: Gains | undefined): Gains {
  if (gains === undefined) throw new RobotError('bad-field', { field: 'gains' });
  return { kp: Math.fround(gains.kp), ki: Math.fround(gains.ki), kd: Math.fround(gains.kd) };
}
