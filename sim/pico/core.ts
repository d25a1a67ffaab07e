import { type GainSet, MODES, type Mode, type Unit } from '../../src/core/units.js';
import { MODE_VALUES } from '../../src/protocol/registers.js';
import type { LoopCommand, UnitLoops } from '../firmware/unit-loops.js';

/** The exports of core.c. `command` is an address in `memory`. */
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

const EXPORTS = [
  'memory',
  'start',
  'tick',
  'command',
  'frame_ends',
  'byte_received',
  'byte_to_send',
  'byte_sent',
];

function isExports(exports: object): exports is Exports {
  return EXPORTS.every(name => name in exports);
}

const MOTORS = ['yaw', 'pitch', 'left', 'right'] as const;
export type CoreMotor = (typeof MOTORS)[number];

/** The functions that the core needs from its chip: firmware/core/port.h. */
export interface CorePort {
  /** Counts since power-up. */
  encoder(motor: CoreMotor): number;
  /** Heading since power-up in 0.0001 rad. */
  heading(): number;
  picture(): { readonly visible: boolean; readonly yawRad: number; readonly pitchRad: number };
  drive(motor: CoreMotor, volts: number): void;
  torque(on: boolean): void;
  /** Fault bits that sensors and drivers show now. */
  faults(): number;
  show(mode: Mode, torque: boolean): void;
  /** Whether `auto` may move without a target. By default it may. */
  readonly autoMoves?: boolean;
}

/** The part below the protocol: the core's own loops on a chip, or loops of the simulator. */
export type CoreBelow = ({ readonly port: CorePort } | { readonly loops: UnitLoops }) & {
  /** The bytes of the register `build`. Without it there is no such register. */
  readonly build?: (() => Uint8Array) | undefined;
};

/** One motor controller with the C core in WebAssembly. It runs the core's loops, or loops of the simulator. */
export class Core {
  readonly #unit: Unit;
  readonly #module: WebAssembly.Module;
  readonly #below: CoreBelow;
  #exports: Exports;

  constructor(module: WebAssembly.Module, unit: Unit, below: CoreBelow) {
    this.#module = module;
    this.#unit = unit;
    this.#below = below;
    this.#exports = this.#powered();
  }

  /** Starts the core as after power-up: no variable keeps its value. */
  start(bootId: number): void {
    this.#exports = this.#powered();
    const isHosted = 'loops' in this.#below;
    if (isHosted) this.#below.loops.reset();
    this.#exports.start(this.#unit.kind, bootId, isHosted ? 1 : 0);
  }

  #powered(): Exports {
    const below = this.#below;
    const imports = 'loops' in below ? this.#hosted(below.loops) : ported(below.port, () => this.#view);
    const host_build = (at: number) => {
      if (below.build === undefined) return 0;
      new Uint8Array(this.#exports.memory.buffer).set(below.build(), at);
      return 1;
    };
    const named: Imports = { ...imports, host_build };
    const everything = Object.fromEntries(IMPORTS.map(name => [name, named[name] ?? (() => 0)]));
    const { exports } = new WebAssembly.Instance(this.#module, { env: everything });
    if (!isExports(exports)) throw new TypeError('dist/firmware/core.wasm is another module');
    return exports;
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

  /** Writes the register byte and the bytes after it. */
  write(place: number, data: Uint8Array): void {
    this.frameEnds();
    // A chip may ask before it knows whether a read follows.
    void this.next;
    for (const byte of [place, ...data]) this.receive(byte);
    this.frameEnds();
  }

  /** Writes the register byte and then reads. */
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

  /** The command of the last loop period. */
  get command(): LoopCommand {
    return this.#commandAt(this.#exports.command());
  }

  get #view(): DataView {
    return new DataView(this.#exports.memory.buffer);
  }

  /** Reads a `struct command` of controller.h. */
  #commandAt(address: number): LoopCommand {
    const view = this.#view;
    const float = (offset: number) => view.getFloat32(address + offset, true);
    const gains: GainSet = Object.fromEntries(
      this.#unit.loops.map(({ name, slot }) => {
        const at = 4 + 12 * slot;
        return [name, { kp: float(at), ki: float(at + 4), kd: float(at + 8) }];
      }),
    );
    const slot = view.getUint8(address + 64);
    return {
      mode: MODES[view.getUint8(address)] ?? 'manual',
      torque: view.getUint8(address + 1) !== 0,
      gains,
      excitation: {
        loop: this.#unit.loops.find(loop => loop.slot === slot)?.name ?? '',
        amplitude: float(68),
        periodS: float(72),
      },
    };
  }

  #hosted(loops: UnitLoops): Imports {
    return {
      host_tick: (command, shown) => {
        loops.tick(this.#commandAt(command));
        show(this.#unit, loops, this.#view, shown);
      },
      host_drop_excitation: () => loops.dropWave(),
    };
  }
}

const IMPORTS = [
  'port_encoder',
  'port_heading',
  'port_picture',
  'port_drive',
  'port_torque',
  'port_faults',
  'port_show',
  'port_auto_moves',
  'host_tick',
  'host_drop_excitation',
  'host_build',
] as const;

type Imports = Partial<Record<(typeof IMPORTS)[number], (a: number, b: number) => unknown>>;

function ported(port: CorePort, view: () => DataView): Imports {
  const motor = (index: number) => MOTORS[index] ?? 'yaw';
  return {
    port_encoder: index => port.encoder(motor(index)),
    port_heading: () => port.heading(),
    port_picture: address => {
      const { visible, yawRad, pitchRad } = port.picture();
      view().setUint8(address, visible ? 1 : 0);
      view().setFloat32(address + 4, yawRad, true);
      view().setFloat32(address + 8, pitchRad, true);
    },
    port_drive: (index, volts) => port.drive(motor(index), volts),
    port_torque: on => port.torque(on !== 0),
    port_faults: () => port.faults(),
    port_show: (mode, torque) =>
      port.show(MODES.find(name => MODE_VALUES[name] === mode) ?? 'manual', torque !== 0),
    port_auto_moves: () => (port.autoMoves === false ? 0 : 1),
  };
}

/** Writes what the loops show as `struct loops` of controller.h. */
function show(
  unit: Unit,
  { readings, pose, edges, targetVisible }: UnitLoops,
  view: DataView,
  at: number,
): void {
  for (const { name, slot } of unit.loops) {
    const { setpoint = 0, measured = 0, output = 0 } = readings[name] ?? {};
    for (const [index, value] of [setpoint, measured, output].entries())
      view.setFloat32(at + 12 * slot + 4 * index, value, true);
  }
  for (const [index, value] of [pose?.xM ?? 0, pose?.yM ?? 0, pose?.headingRad ?? 0].entries())
    view.setFloat32(at + 60 + 4 * index, value, true);
  view.setUint32(at + 72, edges, true);
  view.setUint8(at + 76, targetVisible ? 1 : 0);
}
