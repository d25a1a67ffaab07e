import { MODES, type Mode, RATE_COUNTS, type Unit } from '../../src/core/units.js';
import { bitNames, decodeFrame } from '../../src/protocol/codec.js';
import { FLAGS, frameBytes, REGISTERS } from '../../src/protocol/registers.js';
import type { Controller } from '../firmware/simulated-controller.js';
import { AT_REST, type LoopCommand, type UnitLoops } from '../firmware/unit-loops.js';

/** The functions of core.c. `command` returns an address in `memory`. */
interface Exports {
  readonly memory: WebAssembly.Memory;
  start(kind: number, bootId: number, hosted: number): void;
  tick(): void;
  command(): number;
  frame_ends(): void;
  byte_received(byte: number): void;
  byte_to_send(): number;
  byte_sent(): void;
}

function isExports(exports: object): exports is Exports {
  return 'memory' in exports && 'byte_sent' in exports;
}

function instance(module: WebAssembly.Module, env: WebAssembly.Imports): Exports {
  const { exports } = new WebAssembly.Instance(module, { env });
  if (!isExports(exports)) throw new TypeError('dist/firmware/core.wasm is another module');
  return exports;
}

/** Motor 0 is yaw or left. Motor 1 is pitch or right. */
export type MotorIndex = 0 | 1;

/** The functions that the core needs from its chip: firmware/core/port.h. */
export interface CorePort {
  /** Counts since power-up. */
  encoder(motor: MotorIndex): number;
  /** Heading since power-up in 0.0001 rad. */
  heading(): number;
  picture(): { readonly visible: boolean; readonly yawRad: number; readonly pitchRad: number };
  drive(motor: MotorIndex, volts: number): void;
  torque(on: boolean): void;
  /** Fault bits that sensors and drivers show now. */
  faults(): number;
  show(mode: Mode, torque: boolean): void;
  /** Whether `auto` may move without a target. */
  autoMoves(): boolean;
  /** The bytes of the register `build`. Without this function there is no such register. */
  build?(): Uint8Array;
  /** The true state of the mechanics, which no sensor measures. The core does not ask for it. */
  axes(): unknown;
}

/**
 * A motor controller that runs the C core in WebAssembly. The core runs its own loops on the port, or `loops` of the
 * simulator. A function that the port lacks does nothing and returns 0.
 */
export class Core implements Controller {
  readonly unit: Unit;
  readonly #module: WebAssembly.Module;
  readonly #port: Partial<CorePort>;
  readonly #loops: UnitLoops | undefined;
  #boots = 0;
  #exports: Exports;

  constructor(module: WebAssembly.Module, unit: Unit, port: Partial<CorePort>, loops?: UnitLoops) {
    this.unit = unit;
    this.#module = module;
    this.#port = port;
    this.#loops = loops;
    this.#exports = this.#started(1);
  }

  /** Starts the core as after power-up: no variable keeps its value. */
  reset(bootId = this.#boots + 1): void {
    this.#exports = this.#started(bootId);
  }

  #started(bootId: number): Exports {
    const exports: Exports = instance(
      this.#module,
      this.#imports(() => exports.memory.buffer),
    );
    this.#boots += 1;
    this.#loops?.reset();
    exports.start(this.unit.kind, bootId, this.#loops === undefined ? 0 : 1);
    return exports;
  }

  /** The functions that core.c calls. `memory` returns the memory of the new core. */
  #imports(memory: () => ArrayBuffer): WebAssembly.Imports {
    const port = this.#port;
    const motor = (name: number) => (name % 2 === 0 ? 0 : 1);
    return {
      port_encoder: name => port.encoder?.(motor(name)),
      port_heading: () => port.heading?.(),
      port_picture: at => {
        const { visible = false, yawRad = 0, pitchRad = 0 } = port.picture?.() ?? {};
        new Uint8Array(memory(), at)[0] = visible ? 1 : 0;
        new Float32Array(memory(), at).set([yawRad, pitchRad], 1);
      },
      port_drive: (name, volts) => port.drive?.(motor(name), volts),
      port_torque: on => port.torque?.(on !== 0),
      port_faults: () => port.faults?.(),
      port_show: (mode, torque) => port.show?.(MODES[mode] ?? 'manual', torque !== 0),
      port_auto_moves: () => port.autoMoves?.(),
      host_build: at => {
        new Uint8Array(memory(), at).set(port.build?.() ?? []);
        return port.build !== undefined;
      },
      host_tick: (_, shown) => {
        this.#loops?.tick(this.command);
        if (this.#loops !== undefined) show(this.unit, this.#loops, memory(), shown);
      },
      host_drop_excitation: () => this.#loops?.dropExcitation(),
    };
  }

  tick(): void {
    this.#exports.tick();
  }

  /** Call this at each start, repeated start and stop. */
  frameEnds(): void {
    this.#exports.frame_ends();
  }

  receive(byte: number): void {
    this.#exports.byte_received(byte);
  }

  /** The next byte of a read. Only `sent` advances to the byte after it. */
  get next(): number {
    return this.#exports.byte_to_send();
  }

  sent(): void {
    this.#exports.byte_sent();
  }

  write(place: number, data: Uint8Array): void {
    this.frameEnds();
    // A chip may ask before it knows whether a read follows.
    void this.next;
    for (const byte of [place, ...data]) this.receive(byte);
    this.frameEnds();
  }

  read(place: number, count: number): Buffer {
    this.write(place, new Uint8Array());
    const bytes = Buffer.alloc(count);
    for (let at = 0; at < count; at += 1) {
      bytes[at] = this.next;
      this.sent();
    }
    this.frameEnds();
    return bytes;
  }

  truth(): Record<string, unknown> {
    const { status } = REGISTERS;
    const frame = this.read(status.address, frameBytes(status));
    const flags = bitNames(FLAGS, decodeFrame(this.unit.address, status, frame).flags);
    const { mode, torque, gains } = this.command;
    return {
      boots: this.#boots,
      mode,
      stopped: flags.includes('stopped'),
      torque,
      gains: flags.includes('gains_committed') ? gains : null,
      axes: this.#loops?.axes ?? this.#port.axes?.(),
    };
  }

  /** The command of the last loop period: a `struct command` of controller.h. */
  get command(): LoopCommand {
    const at = this.#exports.command();
    const { buffer } = this.#exports.memory;
    const { 0: mode = 0, 1: torque, 64: excited } = new Uint8Array(buffer, at);
    const floats = new Float32Array(buffer, at);
    const { loops } = this.unit;
    const gains = loops.map(({ name, slot }) => {
      const [kp = 0, ki = 0, kd = 0] = floats.subarray(1 + 3 * slot);
      return [name, { kp, ki, kd }] as const;
    });
    const { 17: amplitude = 0, 18: periodS = 0 } = floats;
    const counts = new Int16Array(buffer, at + 80);
    const rates = this.unit.axes.map(({ name }, axis) => [name, (counts[axis] ?? 0) / RATE_COUNTS]);
    return {
      mode: MODES[mode] ?? 'manual',
      torque: torque !== 0,
      gains: Object.fromEntries(gains),
      excitation: { loop: loops.find(({ slot }) => slot === excited)?.name ?? '', amplitude, periodS },
      rates: Object.fromEntries(rates),
    };
  }
}

/** Writes the state of the loops as `struct loops` of controller.h. */
function show(
  unit: Unit,
  { readings, pose, edges, targetVisible }: UnitLoops,
  memory: ArrayBuffer,
  at: number,
) {
  const floats = new Float32Array(memory, at);
  for (const { name, slot } of unit.loops) {
    const { setpoint, measured, output } = readings[name] ?? AT_REST;
    floats.set([setpoint, measured, output], 3 * slot);
  }
  floats.set([pose?.xM ?? 0, pose?.yM ?? 0, pose?.headingRad ?? 0], 15);
  new Uint32Array(memory, at).set([edges, targetVisible ? 1 : 0], 18);
}
