import type { Clock } from '../core/clock.js';
import { isRobotError, RobotError } from '../core/errors.js';
import type { GainSet, Gains, Mode, Unit } from '../core/units.js';
import { gainsChecksum, shortest } from '../protocol/codec.js';
import type { Link, Urgency } from '../protocol/link.js';
import {
  type FieldValues,
  gainsRegister,
  MAGIC,
  MODE_VALUES,
  PROTOCOL_VERSION,
  REGISTERS,
  type Register,
  TAKES_EFFECT_MS,
  telemetryRegister,
} from '../protocol/registers.js';
import { type Readings, readingsOf } from '../protocol/telemetry.js';
import { hasFlag, type StatusFrame } from './status-frame.js';
import type { GuardedExcitation } from './wanted-motion.js';

export interface Identity {
  readonly loopRateHz: number;
  readonly firmware: string;
  readonly protocol: number;
}

interface ControllerOptions {
  readonly unit: Unit;
  readonly link: Link;
  readonly clock: Clock;
  /** Called with every status that is read, before the reader gets it. */
  readonly onStatus?: (status: StatusFrame) => void;
}

interface Confirmation {
  /** Whether frames written earlier may still take effect. */
  readonly unsettled?: boolean;
  /** Called before each write. Throws if the write must not be done any more. */
  readonly stillWanted: () => void;
  /** Whether the controller shows what was written; reads the register back if left out. */
  readonly holds?: () => Promise<boolean>;
}

/** Longest time that readings wait for mode switches of callers. */
const GIVE_WAY_MS = 20;
/** The pause between two reads that check whether a frame has taken effect. */
const READ_AGAIN_MS = 2;
/**
 * Maximum writes of a frame. The controller rejects a frame with a bad CRC, so writing it again is safe. A frame that
 * is only slow to take effect is waited for.
 */
const WRITES = 3;

/** The conversation with one motor controller. Everything written to it is confirmed by reading back. */
export class MotorController {
  readonly #options: ControllerOptions;
  readonly #telemetry: Register;
  #beats = 0;
  #hasGuard = false;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#telemetry = telemetryRegister(options.unit);
  }

  /** Throws `wrong-identity` unless the controller runs this unit's firmware with our version of the protocol. */
  async identify(urgency: Urgency): Promise<Identity> {
    const found = await this.#read(REGISTERS.identity, urgency);
    const { kind, loops } = this.#options.unit;
    const expected = { magic: MAGIC, kind, protocol: PROTOCOL_VERSION, loops: loops.length } as const;
    for (const field of ['magic', 'kind', 'protocol', 'loops'] as const) {
      if (found[field] === expected[field]) continue;
      throw new RobotError('wrong-identity', {
        unit: this.#options.unit.name,
        field,
        expected: expected[field],
        found: found[field],
      });
    }
    return {
      firmware: `${found.firmware_major}.${found.firmware_minor}.${found.firmware_patch}`,
      protocol: found.protocol,
      loopRateHz: found.loop_rate_hz,
    };
  }

  async status(urgency: Urgency): Promise<StatusFrame> {
    const status = await this.#read(REGISTERS.status, urgency);
    this.#hasGuard = hasFlag(status, 'guarded_excitation');
    this.#options.onStatus?.(status);
    return status;
  }

  /**
   * Reads the loops. Mode switches go first, but not for ever: callers who leave no gap would make the unit count as
   * offline.
   */
  async telemetry(urgency: Urgency): Promise<Readings> {
    const { unit, clock } = this.#options;
    const untilMs = Math.min(urgency.untilMs, clock.nowMs() + GIVE_WAY_MS);
    const frame = await this.#read(this.#telemetry, { priority: 'readings', untilMs }).catch(error => {
      if (!isRobotError(error, 'bus-busy')) throw error;
      return this.#read(this.#telemetry, urgency);
    });
    return readingsOf(unit, frame);
  }

  async heartbeat(silenceMs: number, urgency: Urgency): Promise<void> {
    this.#beats = (this.#beats + 1) & 0xff;
    await this.#write(REGISTERS.heartbeat, { count: this.#beats, silence_ms: silenceMs }, urgency);
  }

  /**
   * The status confirms modes and latches, because polls read the status too: no poll shows an older value afterwards.
   * `unsettled`: earlier frames may still take effect, so the status is believed only after that time. `stillWanted` is
   * called before each write, and throws if the write must not be done. Resolves with the number of frames that the
   * controller may have received.
   */
  setMode(mode: Mode, untilMs: number, unsettled: boolean, stillWanted: () => void): Promise<number> {
    const urgency: Urgency = { priority: 'mode', untilMs };
    const value = MODE_VALUES[mode] ?? 0;
    return this.#confirmed(REGISTERS.mode, { mode: value }, urgency, {
      unsettled,
      stillWanted,
      holds: async () => (await this.status(urgency)).mode === value,
    });
  }

  /** A release has the same urgency as a stop, so that the two never overtake each other. See `setMode`. */
  async setLatch(
    latched: boolean,
    untilMs: number,
    unsettled: boolean,
    stillWanted: () => void,
  ): Promise<void> {
    const urgency: Urgency = { priority: 'stop', untilMs };
    await this.#confirmed(REGISTERS.stop, { stop: latched ? 1 : 0 }, urgency, {
      unsettled,
      stillWanted,
      holds: async () => hasFlag(await this.status(urgency), 'stopped') === latched,
    });
  }

  /** Firmware without the flag `guarded_excitation` never has a deviation. */
  async excitation(urgency: Urgency): Promise<GuardedExcitation> {
    const { slot, amplitude, period_s: periodS, deviation = 0 } = await this.#readWave(urgency);
    const loop = this.#options.unit.loops.find(candidate => candidate.slot === slot);
    if (loop === undefined) throw new RobotError('bad-frame', { register: 'excitation', slot });
    return { loop: loop.name, amplitude: shortest(amplitude), periodS: shortest(periodS), deviation };
  }

  /** Confirms by reading back; see `setMode`. Firmware without the flag `guarded_excitation` gets no deviation. */
  async excite(excitation: GuardedExcitation, untilMs: number, stillWanted: () => void): Promise<void> {
    const { unit } = this.#options;
    const loop = unit.loops.find(({ name }) => name === excitation.loop);
    if (loop === undefined) throw new RobotError('bad-field', { unit: unit.name, loop: excitation.loop });
    const wave = {
      slot: loop.slot,
      amplitude: Math.fround(excitation.amplitude),
      period_s: Math.fround(excitation.periodS),
      deviation: Math.fround(excitation.deviation),
    };
    const register = this.#hasGuard ? REGISTERS.guarded_excitation : REGISTERS.excitation;
    await this.#confirmed(register, wave, { priority: 'mode', untilMs }, { stillWanted });
  }

  /** Stages the gains of every loop and reads them back. None of them is active yet. See `setMode`. */
  async stageGains(gains: GainSet, untilMs: number, stillWanted: () => void): Promise<void> {
    const urgency: Urgency = { priority: 'gains', untilMs };
    for (const loop of this.#options.unit.loops) {
      const values = onTheWire(gains[loop.name]);
      await this.#confirmed(gainsRegister(loop.slot), values, urgency, { stillWanted });
    }
  }

  /**
   * Activates the set that was staged, and resolves when the controller shows its checksum as active. See `setMode`.
   */
  async commitGains(gains: GainSet, untilMs: number, stillWanted: () => void): Promise<void> {
    const urgency: Urgency = { priority: 'gains', untilMs };
    const checksum = gainsChecksum(this.#options.unit, gains);
    await this.#confirmed(REGISTERS.commit, { checksum }, urgency, {
      stillWanted,
      holds: async () => (await this.status(urgency)).active_checksum === checksum,
    });
  }

  /** Resolves with the number of frames that the controller may have received. Rejects with `not-confirmed`. */
  async #confirmed<R extends Register>(
    register: R,
    values: FieldValues<R>,
    urgency: Urgency,
    { unsettled = false, stillWanted, holds = () => this.#shows(register, values, urgency) }: Confirmation,
  ): Promise<number> {
    const { untilMs } = urgency;
    let believedFromMs = 0;
    let frames = 0;
    for (let writes = 1; writes <= WRITES && this.#options.clock.nowMs() < untilMs; writes += 1) {
      stillWanted();
      frames += await this.#write(register, values, urgency);
      if (unsettled) believedFromMs = this.#options.clock.nowMs() + TAKES_EFFECT_MS;
      const isLast = writes === WRITES;
      const readUntilMs = isLast ? untilMs : Math.min(untilMs, this.#options.clock.nowMs() + TAKES_EFFECT_MS);
      for (;;) {
        const nowMs = this.#options.clock.nowMs();
        if ((await holds()) && nowMs >= believedFromMs) return frames;
        if (nowMs >= readUntilMs) break;
        await new Promise<void>(resolve => this.#options.clock.after(READ_AGAIN_MS, resolve));
      }
    }
    throw new RobotError('not-confirmed', { unit: this.#options.unit.name, register: register.name });
  }

  async #shows<R extends Register>(register: R, values: FieldValues<R>, urgency: Urgency): Promise<boolean> {
    const [found, written]: Readonly<Record<string, number>>[] = [
      await this.#read(register, urgency),
      values,
    ];
    return register.fields.every(({ name }) => found?.[name] === written?.[name]);
  }

  #readWave(urgency: Urgency): Promise<FieldValues<typeof REGISTERS.excitation> & { deviation?: number }> {
    return this.#read(this.#hasGuard ? REGISTERS.guarded_excitation : REGISTERS.excitation, urgency);
  }

  #read<R extends Register>(register: R, urgency: Urgency): Promise<FieldValues<R>> {
    return this.#named(this.#options.link.read(this.#options.unit.address, register, urgency));
  }

  #write<R extends Register>(register: R, values: FieldValues<R>, urgency: Urgency): Promise<number> {
    return this.#named(this.#options.link.write(this.#options.unit.address, register, values, urgency));
  }

  /** The link knows only addresses, so this adds the unit's name to its errors. */
  async #named<T>(transaction: Promise<T>): Promise<T> {
    try {
      return await transaction;
    } catch (error) {
      throw isRobotError(error) ? error.with({ unit: this.#options.unit.name }) : error;
    }
  }
}

function onTheWire(gains: Gains | undefined): Gains {
  if (gains === undefined) throw new RobotError('bad-field', { field: 'gains' });
  return { kp: Math.fround(gains.kp), ki: Math.fround(gains.ki), kd: Math.fround(gains.kd) };
}
