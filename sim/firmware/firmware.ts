import { type Loop, MODES, type Mode, QUANTITIES, type Unit } from '../../src/core/units.js';
import {
  capturePageRegister,
  FAULTS,
  type FieldValues,
  FLAGS,
  gainsRegister,
  MAGIC,
  PROTOCOL_VERSION,
  type REGISTERS,
  type Register,
} from '../../src/protocol/registers.js';
import { type ExcitedLoop, noExcitation, takenExcitation } from './excitation.js';
import { GainBank } from './gain-bank.js';
import { type Motion, NO_MOTION, takenMotion } from './motion.js';
import { StepRecorder } from './step-recorder.js';
import { AT_REST, type LoopReading, type UnitLoops } from './unit-loops.js';

const VERSION = { firmware_major: 1, firmware_minor: 0, firmware_patch: 0 };
const SILENCE_AT_START_MS = 500;
/** A refused frame shows as a fault for this long. */
const REFUSAL_SHOWN_MS = 1000;

type Values = Readonly<Record<string, number>>;
/** The values of the optional register `build`. */
export type Build = FieldValues<typeof REGISTERS.build>;

/** The firmware of a controller, from one start of the controller to the next. */
export class Firmware {
  readonly #unit: Unit;
  readonly #loops: UnitLoops;
  readonly #rateHz: number;
  readonly #bootId: number;
  readonly #build: Build | undefined;
  readonly #loopAt: ReadonlyMap<number, Loop>;
  readonly #gains: GainBank;
  readonly #recorder: StepRecorder;
  #mode: Mode = 'manual';
  #stopped = false;
  #silenceMs = SILENCE_AT_START_MS;
  #heartbeatAgeMs = 0;
  /** Whether the host was silent in the last loop period. A heartbeat gives torque in the next one. */
  #wasSilent = false;
  #refused = 0;
  #refusalAgeMs = Number.POSITIVE_INFINITY;
  #excitation: ExcitedLoop;
  #ranAway = false;
  #motion: Motion = NO_MOTION;
  /** The number of the current snapshot. All reads within one loop period return the same snapshot. */
  #snapshot = 0;
  #isSnapshotOld = false;

  constructor(unit: Unit, loops: UnitLoops, rateHz: number, bootId: number, build?: Build) {
    this.#unit = unit;
    this.#loops = loops;
    this.#rateHz = rateHz;
    this.#bootId = bootId;
    this.#build = build;
    this.#loopAt = new Map(unit.loops.map(one => [gainsRegister(one.slot).address, one]));
    this.#gains = new GainBank(unit);
    this.#recorder = new StepRecorder(rateHz);
    this.#excitation = noExcitation(unit);
  }

  /** Runs one loop period. */
  tick(): void {
    this.#heartbeatAgeMs += 1000 / this.#rateHz;
    this.#refusalAgeMs += 1000 / this.#rateHz;
    this.#isSnapshotOld = true;
    this.#wasSilent = this.#silent;
    const torque = this.#torque;
    if (!torque) this.#rest();
    const { loop, amplitude, periodS } = this.#excitation;
    const before = { ...this.#reading(loop) };
    const edges = this.#loops.edges;
    const { rates, leftMs } = this.#motion;
    this.#loops.tick({
      mode: this.#mode,
      torque,
      gains: this.#gains.committed ?? {},
      excitation: { loop: loop.name, amplitude, periodS },
      rates,
    });
    const restMs = leftMs - 1000 / this.#rateHz;
    this.#motion = restMs > 0 ? { rates, leftMs: restMs } : NO_MOTION;
    const running = this.#mode === 'debug' && torque && amplitude !== 0 ? { loop, periodS } : undefined;
    if (running !== undefined) this.#watch(this.#reading(loop));
    const after = this.#reading(loop);
    // An edge makes no capture if it does not move the setpoint, for example without a target.
    const edge = this.#loops.edges !== edges && after.setpoint !== before.setpoint;
    this.#recorder.tick(running, before, after, edge);
  }

  truth(): Record<string, unknown> {
    return {
      mode: this.#mode,
      stopped: this.#stopped,
      torque: this.#torque,
      gains: this.#gains.committed ?? null,
    };
  }

  /** Records that a frame was refused. */
  refuse(): void {
    this.#refused = (this.#refused + 1) & 0xff;
    this.#refusalAgeMs = 0;
  }

  /** Checks a frame. Returns its effect, which may come later. Throws `bad-frame` to refuse the frame. */
  take(register: Register, values: Values): () => void {
    const value = (name: string) => values[name] ?? 0;
    switch (register.name) {
      case 'mode':
        return () => this.#enter(MODES[value('mode')] ?? 'manual');
      case 'stop':
        return () => {
          this.#stopped = value('stop') === 1;
          if (this.#stopped) this.#rest();
        };
      case 'heartbeat':
        return () => {
          this.#silenceMs = value('silence_ms');
          this.#heartbeatAgeMs = 0;
        };
      case 'commit':
        return this.#commit(value('checksum'));
      case 'excitation':
      case 'guarded_excitation':
        return this.#excite(takenExcitation(this.#unit, values));
      case 'motion':
        return this.#move(takenMotion(this.#unit, values));
      case 'capture_select':
        return () => this.#recorder.select(value('page'));
    }
    const loop = this.#loopAt.get(register.address);
    if (loop === undefined) throw new TypeError(`the simulated firmware takes no ${register.name}`);
    return () => this.#gains.stage(loop, { kp: value('kp'), ki: value('ki'), kd: value('kd') });
  }

  /** The register with its encoding. A page of a capture has the scale of its loop's telemetry. */
  shape(register: Register): Register {
    const { loop } = this.#recorder;
    if (register.name !== 'capture_page' || loop === undefined) return register;
    return capturePageRegister(QUANTITIES[loop.quantity].countsPerUnit);
  }

  values(register: Register): Values {
    const { loop: excited, amplitude, periodS, deviation } = this.#excitation;
    switch (register.name) {
      case 'identity':
        return {
          magic: MAGIC,
          kind: this.#unit.kind,
          protocol: PROTOCOL_VERSION,
          ...VERSION,
          loops: this.#unit.loops.length,
          loop_rate_hz: this.#rateHz,
        };
      case 'status':
        return this.#status();
      case 'build':
        return { ...this.#build };
      case 'telemetry':
        if (this.#isSnapshotOld) this.#snapshot = (this.#snapshot + 1) & 0xff;
        this.#isSnapshotOld = false;
        return { sequence: this.#snapshot, ...telemetryOf(this.#unit, this.#loops) };
      case 'mode':
        return { mode: MODES.indexOf(this.#mode) };
      case 'stop':
        return { stop: this.#stopped ? 1 : 0 };
      case 'excitation':
      case 'guarded_excitation':
        return { slot: excited.slot, amplitude: this.#torque ? amplitude : 0, period_s: periodS, deviation };
      case 'motion':
        return this.#shownMotion();
      case 'capture':
        return this.#recorder.header();
      case 'capture_page':
        return this.#recorder.page();
    }
    const loop = this.#loopAt.get(register.address);
    if (loop === undefined) throw new TypeError(`the simulated firmware has no ${register.name}`);
    return { ...this.#gains.shown(loop) };
  }

  get #silent(): boolean {
    return this.#silenceMs > 0 && this.#heartbeatAgeMs >= this.#silenceMs;
  }

  get #torque(): boolean {
    return !this.#stopped && this.#gains.committed !== undefined && !this.#silent;
  }

  /** Whether a frame that arrives now may move the unit. */
  get #mayMove(): boolean {
    return this.#torque && !this.#wasSilent;
  }

  #reading({ name }: Loop): LoopReading {
    return this.#loops.readings[name] ?? AT_REST;
  }

  /** Ends the excitation if setpoint and measured value differ by more than the guard allows. */
  #watch({ setpoint, measured }: LoopReading): void {
    const { deviation } = this.#excitation;
    if (deviation === 0 || Math.abs(setpoint - measured) <= deviation) return;
    this.#excitation = { ...this.#excitation, amplitude: 0 };
    this.#loops.dropExcitation();
    this.#ranAway = true;
  }

  #commit(checksum: number): () => void {
    const set = this.#gains.commit(checksum);
    return () => {
      if (set !== undefined) this.#gains.committed = set;
    };
  }

  #excite(excitation: ExcitedLoop): () => void {
    return () => {
      this.#excitation = excitation;
      this.#ranAway = false;
      if (!this.#mayMove) this.#rest();
    };
  }

  #move(motion: Motion): () => void {
    return () => {
      if (this.#mode === 'manual' && this.#mayMove) this.#motion = motion;
    };
  }

  #shownMotion(): Values {
    const { rates, leftMs } = this.#torque ? this.#motion : NO_MOTION;
    const shown = this.#unit.axes.map(({ name }) => [name, rates[name] ?? 0]);
    return { ...Object.fromEntries(shown), hold_ms: Math.ceil(leftMs) };
  }

  /** The mode may be the old one again before the loops run. */
  #enter(mode: Mode): void {
    if (mode === this.#mode) return;
    this.#ranAway = false;
    this.#loops.dropExcitation();
    this.#motion = NO_MOTION;
    if (mode === 'debug') this.#excitation = { ...this.#excitation, amplitude: 0 };
    this.#mode = mode;
  }

  /** Without torque, the unit keeps nothing that would move it when torque returns. */
  #rest(): void {
    this.#loops.dropExcitation();
    this.#motion = NO_MOTION;
    if (this.#excitation.amplitude !== 0) this.#excitation = { ...this.#excitation, amplitude: 0 };
  }

  #status(): Values {
    return {
      boot_id: this.#bootId,
      mode: MODES.indexOf(this.#mode),
      flags: bitsOf(FLAGS, {
        stopped: this.#stopped,
        torque: this.#torque,
        gains_committed: this.#gains.committed !== undefined,
        target_visible: this.#loops.targetVisible,
        guarded_excitation: true,
        build: this.#build !== undefined,
        motion: true,
      }),
      faults: bitsOf(FAULTS, {
        silent: this.#silent,
        commit_refused: this.#gains.commitRefused,
        frame_refused: this.#refusalAgeMs < REFUSAL_SHOWN_MS,
        ran_away: this.#ranAway,
      }),
      active_checksum: this.#gains.checksum,
      staged: this.#gains.stagedBits,
      refused: this.#refused,
      capture: this.#recorder.number,
    };
  }
}

function bitsOf<Name extends string>(
  names: readonly Name[],
  holds: Readonly<Partial<Record<Name, boolean>>>,
): number {
  return names.reduce((bits, name, bit) => (holds[name] ? bits | (1 << bit) : bits), 0);
}

/** The readings of the loops, by the names of the fields of the telemetry frame. */
function telemetryOf(unit: Unit, { readings, pose }: UnitLoops): Record<string, number> {
  const values: Record<string, number> = {};
  for (const { name } of unit.loops) {
    const { setpoint = 0, measured = 0, output = 0 } = readings[name] ?? {};
    values[`${name}.setpoint`] = setpoint;
    values[`${name}.measured`] = measured;
    values[`${name}.output`] = output;
  }
  if (pose === undefined) return values;
  return { ...values, 'pose.x': pose.xM, 'pose.y': pose.yM, 'pose.heading': pose.headingRad };
}
