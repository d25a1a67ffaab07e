import { decodeFrame, encodeFrame, gainsChecksum } from '../src/protocol/codec.js';
import {
  CAPTURE_PAGE_SAMPLES,
  capturePageRegister,
  FAULTS,
  FLAGS,
  frameBytes,
  gainsRegister,
  MAGIC,
  MODE_VALUES,
  PROTOCOL_VERSION,
  type Register,
  registerMap,
  SPACE_BYTES,
} from '../src/protocol/registers.js';
import {
  EXCITATION_PERIOD_S,
  type Excitation,
  type GainSet,
  type Gains,
  MODES,
  type Mode,
  QUANTITIES,
  type Unit,
} from '../src/units.js';
import { StepRecorder } from './step-recorder.js';
import type { UnitLoops } from './unit-loops.js';

const FIRMWARE = { firmware_major: 1, firmware_minor: 0, firmware_patch: 0 };
const SILENCE_AT_START_MS = 500;
/** How long a refused frame shows as a fault. */
const REFUSAL_SHOWN_MS = 1000;
const NO_GAINS: Gains = { kp: 0, ki: 0, kd: 0 };

type Values = Readonly<Record<string, number>>;

/** The firmware of one motor controller: the register map in front, the loops behind. */
export class SimulatedController {
  readonly unit: Unit;
  readonly #loops: UnitLoops;
  readonly #rateHz: number;
  readonly #map: readonly Register[];
  readonly #memory = Buffer.alloc(SPACE_BYTES);
  #boots = 0;
  #mode: Mode = 'manual';
  #stopped = false;
  #silenceMs = SILENCE_AT_START_MS;
  #sinceHeartbeatMs = 0;
  #sinceRefusalMs = Number.POSITIVE_INFINITY;
  #refused = 0;
  #commitRefused = false;
  #staged = new Map<number, Gains>();
  #active: GainSet | undefined;
  #checksum = 0;
  #excitation: Excitation;
  #recorder: StepRecorder;
  #page = 0;
  #edges = 0;
  #sequence = 0;

  constructor(unit: Unit, loops: UnitLoops, rateHz: number) {
    this.unit = unit;
    this.#loops = loops;
    this.#rateHz = rateHz;
    this.#map = registerMap(unit);
    this.#recorder = new StepRecorder(rateHz);
    this.#excitation = this.#noExcitation();
    this.reset();
  }

  get boots(): number {
    return this.#boots;
  }

  /** As power coming back: nothing survives but the mechanics. */
  reset(): void {
    this.#boots += 1;
    this.#mode = 'manual';
    this.#stopped = false;
    this.#silenceMs = SILENCE_AT_START_MS;
    this.#sinceHeartbeatMs = 0;
    this.#sinceRefusalMs = Number.POSITIVE_INFINITY;
    this.#refused = 0;
    this.#commitRefused = false;
    this.#staged = new Map();
    this.#active = undefined;
    this.#checksum = 0;
    this.#excitation = this.#noExcitation();
    this.#recorder = new StepRecorder(this.#rateHz);
    this.#edges = this.#loops.edges;
    this.#loops.reset();
  }

  /** One loop period. */
  tick(): void {
    this.#sinceHeartbeatMs += 1000 / this.#rateHz;
    this.#sinceRefusalMs += 1000 / this.#rateHz;
    this.#loops.tick({
      mode: this.#mode,
      torque: this.#torque,
      gains: this.#active ?? Object.fromEntries(this.unit.loops.map(loop => [loop.name, NO_GAINS])),
      excitation: this.#excitation,
    });
    const { loop, periodS } = this.#excitation;
    const reading = this.#loops.readings[loop];
    if (reading === undefined) throw new Error(`the simulated ${this.unit.name} runs no loop ${loop}`);
    this.#recorder.tick(reading, this.#loops.edges !== this.#edges, this.#slotOf(loop), periodS);
    this.#edges = this.#loops.edges;
  }

  /** What a memory of 256 bytes would answer, its readable frames being up to date. */
  read(register: number, length: number): Buffer {
    for (const one of this.#map) {
      const overlaps = one.address < register + length && register < one.address + frameBytes(one);
      if (overlaps && one.access !== 'write') this.#frame(one).copy(this.#memory, one.address);
    }
    return Buffer.from(this.#memory.subarray(register, register + length));
  }

  write(address: number, data: Buffer): void {
    const register = this.#map.find(one => one.address === address && one.access !== 'read');
    try {
      if (register === undefined) throw new Error('no register to write');
      this.#take(register, decodeFrame(this.unit.address, register, data));
    } catch {
      this.#refused = (this.#refused + 1) & 0xff;
      this.#sinceRefusalMs = 0;
    }
  }

  truth(): Record<string, unknown> {
    return {
      boots: this.#boots,
      mode: this.#mode,
      stopped: this.#stopped,
      torque: this.#torque,
      gains: this.#active ?? null,
      axes: this.#loops.axes,
    };
  }

  get #silent(): boolean {
    return this.#silenceMs > 0 && this.#sinceHeartbeatMs > this.#silenceMs;
  }

  get #torque(): boolean {
    return !this.#stopped && this.#active !== undefined && !this.#silent;
  }

  #noExcitation(): Excitation {
    return { loop: this.unit.loops[0]?.name ?? '', amplitude: 0, periodS: EXCITATION_PERIOD_S.default };
  }

  /** Throws to refuse the frame. */
  #take(register: Register, values: Values): void {
    const slot = this.unit.loops.find(loop => gainsRegister(loop.slot).address === register.address)?.slot;
    if (slot !== undefined) {
      this.#staged.set(slot, { kp: values.kp ?? 0, ki: values.ki ?? 0, kd: values.kd ?? 0 });
      return;
    }
    switch (register.name) {
      case 'mode':
        this.#switchTo(MODES[values.mode ?? 0] ?? 'manual');
        break;
      case 'stop':
        this.#stopped = values.stop === 1;
        break;
      case 'heartbeat':
        this.#silenceMs = values.silence_ms ?? 0;
        this.#sinceHeartbeatMs = 0;
        break;
      case 'commit':
        this.#commit(values.checksum ?? 0);
        break;
      case 'excitation':
        this.#excite(values);
        break;
      case 'capture_select':
        this.#recorder.select();
        this.#page = values.page ?? 0;
        break;
    }
  }

  #switchTo(mode: Mode): void {
    if (mode === 'debug' && this.#mode !== 'debug') this.#excitation = this.#noExcitation();
    this.#mode = mode;
  }

  #commit(checksum: number): void {
    const set: Record<string, Gains> = {};
    for (const loop of this.unit.loops) {
      const staged = this.#staged.get(loop.slot);
      if (staged !== undefined) set[loop.name] = staged;
    }
    const whole = Object.keys(set).length === this.unit.loops.length;
    this.#commitRefused = !whole || gainsChecksum(this.unit, set) !== checksum;
    if (this.#commitRefused) return;
    this.#active = set;
    this.#checksum = checksum;
    this.#staged = new Map();
  }

  #excite(values: Values): void {
    const loop = this.unit.loops.find(candidate => candidate.slot === values.slot);
    const { amplitude = 0, period_s: periodS = 0 } = values;
    const { min, max } = EXCITATION_PERIOD_S;
    if (loop === undefined) throw new Error('no such loop');
    if (amplitude < 0 || amplitude > Math.fround(loop.maxAmplitude))
      throw new Error('amplitude out of range');
    if (periodS < Math.fround(min) || periodS > max) throw new Error('period out of range');
    this.#excitation = { loop: loop.name, amplitude, periodS };
  }

  #slotOf(name: string): number {
    return this.unit.loops.find(loop => loop.name === name)?.slot ?? 0;
  }

  #frame(register: Register): Buffer {
    const { address } = this.unit;
    if (register.name !== 'capture_page') return encodeFrame(address, register, this.#values(register));
    const slot = this.#recorder.newest?.slot;
    const loop = this.unit.loops.find(candidate => candidate.slot === slot);
    const counts = loop === undefined ? 1 : QUANTITIES[loop.quantity].countsPerUnit;
    return encodeFrame(address, capturePageRegister(counts), this.#captureValues());
  }

  #values(register: Register): Values {
    switch (register.name) {
      case 'identity':
        return {
          magic: MAGIC,
          kind: this.unit.kind,
          protocol: PROTOCOL_VERSION,
          ...FIRMWARE,
          loops: this.unit.loops.length,
          loop_rate_hz: this.#rateHz,
        };
      case 'status':
        return this.#statusValues();
      case 'telemetry':
        return this.#telemetryValues();
      case 'mode':
        return { mode: MODE_VALUES[this.#mode] ?? 0 };
      case 'stop':
        return { stop: this.#stopped ? 1 : 0 };
      case 'excitation': {
        const { loop, amplitude, periodS } = this.#excitation;
        return { slot: this.#slotOf(loop), amplitude, period_s: periodS };
      }
      case 'capture': {
        const { number = 0, slot = 0, decimation = 1, setpoint = [] } = this.#recorder.newest ?? {};
        return { number, slot, rate_hz: this.#rateHz, decimation, samples: setpoint.length };
      }
      default: {
        const loop = this.unit.loops.find(one => gainsRegister(one.slot).address === register.address);
        return { ...(this.#staged.get(loop?.slot ?? -1) ?? this.#active?.[loop?.name ?? ''] ?? NO_GAINS) };
      }
    }
  }

  #statusValues(): Values {
    const flags: Record<string, boolean> = {
      stopped: this.#stopped,
      torque: this.#torque,
      gains_committed: this.#active !== undefined,
      target_visible: this.#loops.targetVisible,
    };
    const faults: Record<string, boolean> = {
      silent: this.#silent,
      commit_refused: this.#commitRefused,
      frame_refused: this.#sinceRefusalMs < REFUSAL_SHOWN_MS,
    };
    return {
      boot_id: this.#boots,
      mode: MODE_VALUES[this.#mode] ?? 0,
      flags: bitsOf(FLAGS, flags),
      faults: bitsOf(FAULTS, faults),
      active_checksum: this.#checksum,
      staged: [...this.#staged.keys()].reduce((bits, slot) => bits | (1 << slot), 0),
      refused: this.#refused,
      capture: this.#recorder.newest?.number ?? 0,
    };
  }

  #telemetryValues(): Values {
    this.#sequence = (this.#sequence + 1) & 0xff;
    const values: Record<string, number> = { sequence: this.#sequence };
    for (const { name } of this.unit.loops) {
      const { setpoint, measured, output } = this.#loops.readings[name] ?? {
        setpoint: 0,
        measured: 0,
        output: 0,
      };
      values[`${name}.setpoint`] = setpoint;
      values[`${name}.measured`] = measured;
      values[`${name}.output`] = output;
    }
    const { pose } = this.#loops;
    if (pose === undefined) return values;
    return { ...values, 'pose.x': pose.xM, 'pose.y': pose.yM, 'pose.heading': pose.headingRad };
  }

  #captureValues(): Values {
    const { number = 0, setpoint = [], measured = [] } = this.#recorder.newest ?? {};
    const values: Record<string, number> = { number, page: this.#page };
    for (let sample = 0; sample < CAPTURE_PAGE_SAMPLES; sample += 1) {
      const place = this.#page * CAPTURE_PAGE_SAMPLES + sample;
      values[`setpoint_${sample}`] = setpoint[place] ?? 0;
      values[`measured_${sample}`] = measured[place] ?? 0;
    }
    return values;
  }
}

function bitsOf(names: readonly string[], holds: Readonly<Record<string, boolean>>): number {
  return names.reduce((bits, name, bit) => (holds[name] ? bits | (1 << bit) : bits), 0);
}
