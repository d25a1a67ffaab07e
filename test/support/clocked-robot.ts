import { isDeepStrictEqual } from 'node:util';
import type { FaultBody } from '../../sim/bus/faults.js';
import type { Physics } from '../../sim/firmware/unit-loops.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { Deadlines } from '../../src/core/deadlines.js';
import { RobotError } from '../../src/core/errors.js';
import { type GainSet, perUnit, UNIT_LIST, type UnitName, unitNamed } from '../../src/core/units.js';
import { GainsStore } from '../../src/gains/gains-store.js';
import type { I2cBus } from '../../src/hardware/ports.js';
import { decodeFrame, encodeFrame } from '../../src/protocol/codec.js';
import { type FieldValues, type Register, registerMap } from '../../src/protocol/registers.js';
import type { DriveCommand } from '../../src/robot/drive.js';
import type { MotorUnit } from '../../src/robot/motor-unit.js';
import type { Permission } from '../../src/robot/request-gate.js';
import { Robot, type RobotSettings } from '../../src/robot/robot.js';
import type { RobotEvent } from '../../src/robot/robot-event.js';
import type { Trial } from '../../src/robot/wanted.js';
import { openStopFile } from '../../src/storage/stop-file.js';
import { codeOfRefusal } from './code-of.js';
import { noLock } from './journal-lines.js';
import { ManualClock } from './manual-clock.js';
import { RecordingDisk } from './recording-disk.js';
import { ScriptedLoops } from './scripted-loops.js';

/** A caller who waits for an answer until `hangUp` is called. */
export class WaitingCaller {
  #isGone = false;
  readonly stillWanted = (): void => {
    if (this.#isGone) throw new RobotError('caller-gone');
  };
  readonly hangUp = (): void => {
    this.#isGone = true;
  };
}

/** Allows everything, as a robot outside a match does. */
export const everythingAllowed: Permission = { require: () => undefined };

export interface Frame {
  readonly unit: UnitName;
  readonly kind: 'read' | 'write';
  readonly register: string;
  /** The data of the frame without its checksum. */
  readonly data: string;
}

/** The fate of a frame. It fails; or it arrives and its answer is lost; or it arrives twice. `undefined`: it works. */
export type Fate = 'fails' | 'answer lost' | 'sent twice' | undefined;

interface UnitTruth {
  readonly mode: string;
  readonly stopped: boolean;
  readonly torque: boolean;
  readonly gains: Record<string, { kp: number }> | null;
}

/** The robot's own code on a simulated bus and pin. Time passes only when a test says so. */
export class ClockedRobot {
  readonly clock = new ManualClock();
  readonly deadlines = new Deadlines(this.clock);
  readonly disk = new RecordingDisk();
  readonly events: RobotEvent[] = [];
  readonly frames: Frame[] = [];
  readonly sim: SimulatedRobot;
  readonly loops = perUnit(unit => new ScriptedLoops(unit));
  /** Called before each frame. It may change the simulation, wait, or decide the frame's fate. */
  intercept: (frame: Frame) => Fate | Promise<Fate> = () => undefined;
  readonly #settings: Partial<RobotSettings>;
  readonly #permission: Permission;
  /** The number of daemons that have ended. */
  #ends = 0;
  #robot: Robot | undefined;
  #store: GainsStore | undefined;

  protected constructor(settings: Partial<RobotSettings>, permission: Permission, physics?: Physics) {
    this.#settings = settings;
    this.#permission = permission;
    this.sim = new SimulatedRobot({
      clock: this.clock,
      physics: physics ?? { loops: this.loops, loopRateHz: 1000, step: () => undefined },
    });
  }

  static async start(
    settings: Partial<RobotSettings> = {},
    permission: Permission = everythingAllowed,
  ): Promise<ClockedRobot> {
    const clocked = new ClockedRobot(settings, permission);
    await clocked.restart();
    return clocked;
  }

  get robot(): Robot {
    if (this.#robot === undefined) throw new Error('not started');
    return this.#robot;
  }

  /** A new daemon on the same controllers and the same disk. The previous one ends as by SIGKILL. */
  async restart(): Promise<void> {
    await this.kill();
    const { clock, disk } = this;
    // Disk and lock are in memory. Real I/O would take real time, and the manual clock does not advance with it.
    this.#store = await GainsStore.open({ folder: '/state', clock, disk, lock: noLock });
    const stopMemory = await openStopFile({ folder: '/state', disk, clock }, 'one');
    this.#robot = new Robot({
      stopMemory,
      hardware: { ...this.sim.hardware, bus: this.#intercepted(this.sim.hardware.bus) },
      store: this.#store,
      clock: this.clock,
      deadlines: this.deadlines,
      permission: this.#permission,
      settings: {
        pollHz: 50,
        laserMaxOnS: 0,
        onControllerReset: 'manual',
        silence: perUnit(() => ({ beforeMs: 500, givenMs: 500 })),
        ...this.#settings,
      },
    });
    this.#robot.events.add(event => this.events.push(event));
    await this.during(this.#robot.start());
  }

  /** Ends the daemon. It sends no more frames, and its files are closed. */
  async kill(): Promise<void> {
    this.#ends += 1;
    this.deadlines.close();
    void this.#robot?.close();
    await this.#store?.close();
    this.#store = undefined;
  }

  async end(): Promise<void> {
    this.intercept = () => undefined;
    await this.during(this.robot.close());
    await this.#store?.close();
  }

  get chassis(): MotorUnit {
    return this.robot.units.chassis;
  }

  get gimbal(): MotorUnit {
    return this.robot.units.gimbal;
  }

  /** The chassis' gains in force, with another speed loop. */
  gainsWith(kp: number): GainSet {
    return { ...this.robot.store.current('chassis').gains, speed: { kp, ki: 0, kd: 0 } };
  }

  /** Tries gains on the chassis. */
  tryGains(kp: number, changed: Partial<Trial> = {}): Promise<void> {
    const { gains = this.gainsWith(kp) } = changed;
    return this.chassis.gains.tryGains({ id: 'a', by: 'lab', endsAtMs: 1e9, ...changed, gains });
  }

  /** Sends a drive command of the operator that holds for 200 ms. */
  drive(rates: DriveCommand['rates'], more: Partial<DriveCommand> = {}): Promise<unknown> {
    return this.robot.drive({
      rates,
      by: 'operator',
      id: 'a',
      receivedMs: this.clock.nowMs(),
      holdMs: 200,
      notAfterMs: undefined,
      takeover: false,
      stillWanted: () => undefined,
      stillConnected: async () => undefined,
      requireUntuned: () => undefined,
      ...more,
    });
  }

  /** The proportion of the speed loop that the chassis runs. */
  get runningKp(): number | undefined {
    return this.truth('chassis').gains?.speed?.kp;
  }

  /** Gives every frame like `which` this fate, until `allIsWell` is called. */
  let(which: Partial<Frame>, fate: Fate): void {
    this.each(which, () => fate);
  }

  /** Decides the fate of each frame like `which` by its number, until `allIsWell` is called. The first has number 1. */
  each(which: Partial<Frame>, fateOf: (number: number) => Fate | Promise<Fate>): void {
    let count = 0;
    this.intercept = frame => {
      if (!isLike(frame, which)) return undefined;
      count += 1;
      return fateOf(count);
    };
  }

  /** Every frame like `which` takes this long, until `allIsWell` is called. */
  slow(which: Partial<Frame>, ms: number): void {
    this.each(which, async () => {
      await this.pause(ms);
      return undefined;
    });
  }

  allIsWell(): void {
    this.intercept = () => undefined;
  }

  /** Acts at the first frame like `which`. The frame waits for the act. The result says whether the act is done. */
  atFirst(which: Partial<Frame>, act: () => unknown): () => boolean {
    let isDone = false;
    this.each(which, async number => {
      isDone = true;
      if (number === 1) await act();
      return undefined;
    });
    return () => isDone;
  }

  /** Records the modes in which the controller has torque from now on. */
  torqueModes(unit: UnitName): ReadonlySet<string> {
    const modes = new Set<string>();
    this.intercept = () => {
      const { mode, torque } = this.truth(unit);
      if (torque) modes.add(mode);
      return undefined;
    };
    return modes;
  }

  /** From now on, the controllers' answers to a read of this register have other values. */
  alter<R extends Register>(register: R, change: (values: FieldValues<R>) => Partial<FieldValues<R>>): void {
    const { bus } = this.sim.hardware;
    const read = bus.readBlock.bind(bus);
    bus.readBlock = async (address, at, length) => {
      const frame = await read(address, at, length);
      if (at !== register.address) return frame;
      const values = decodeFrame(address, register, frame);
      return encodeFrame(address, register, { ...values, ...change(values) });
    };
  }

  /** Resolves after this time. Another part of the test must let the time pass. */
  pause(ms: number): Promise<void> {
    return new Promise(resolve => this.clock.after(ms, resolve));
  }

  truth(unit: UnitName): UnitTruth {
    return this.sim.truth()[unit] as UnitTruth;
  }

  get level(): number {
    return (this.sim.truth().laser as { level: number }).level;
  }

  fault(target: FaultBody['target'], fault: FaultBody['fault'], count?: number): void {
    this.sim.inject({ target, fault, ...(count !== undefined && { count }) });
  }

  /** Lets time pass in steps that are small enough for the bus. */
  async wait(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1) await this.clock.advance(1);
  }

  /** Lets time pass until the condition holds. */
  async until(holds: () => boolean, limitMs = 2000): Promise<void> {
    for (let ms = 0; !holds(); ms += 1) {
      if (ms >= limitMs) throw new Error(`does not hold within ${limitMs} ms`);
      await this.clock.advance(1);
    }
  }

  /** Lets time pass until the promise has settled. */
  async during<T>(promise: Promise<T>, limitMs = 2000): Promise<T> {
    let settled = false;
    const end = promise.finally(() => {
      settled = true;
    });
    end.catch(() => undefined);
    for (let ms = 0; !settled && ms < limitMs; ms += 1) await this.clock.advance(1);
    if (!settled) throw new Error(`not settled within ${limitMs} ms`);
    return end;
  }

  /** 200, or the code of the refusal. */
  async outcome(promise: Promise<unknown>): Promise<string | 200> {
    try {
      await this.during(promise);
      return 200;
    } catch (error) {
      return codeOfRefusal(error);
    }
  }

  #intercepted(bus: I2cBus): I2cBus {
    const life = this.#ends;
    const pass = async <T>(frame: Frame, act: () => Promise<T>): Promise<T> => {
      if (life !== this.#ends) throw new RobotError('bus-closed', {});
      this.frames.push(frame);
      const fate = await this.intercept(frame);
      if (fate === 'fails') throw new RobotError('nack', { errno: 121 });
      if (fate === 'sent twice') await act();
      const answer = await act();
      if (fate === 'answer lost') throw new RobotError('nack', { errno: 121 });
      return answer;
    };
    return {
      readBlock: (address, register, length) =>
        pass(frameOf('read', address, register), () => bus.readBlock(address, register, length)),
      writeBlock: (address, register, data) =>
        pass(frameOf('write', address, register, data), () => bus.writeBlock(address, register, data)),
    };
  }
}

export function isLike(frame: Frame, which: Partial<Frame>): boolean {
  return isDeepStrictEqual({ ...frame, ...which }, frame);
}

/** A frame that reaches a controller without the daemon, between two of the daemon's transactions. */
export async function somebodyElse<R extends Register>(
  robot: ClockedRobot,
  unit: UnitName,
  register: R,
  values: FieldValues<R>,
): Promise<void> {
  await robot.clock.advance(5);
  await write(robot, unit, register, values);
}

/** Writes a frame without the daemon, even in the middle of one of the daemon's transactions. */
export async function write<R extends Register>(
  { sim }: ClockedRobot,
  unit: UnitName,
  register: R,
  values: FieldValues<R>,
): Promise<void> {
  const { address } = unitNamed(unit);
  await sim.hardware.bus.writeBlock(address, register.address, encodeFrame(address, register, values));
}

function frameOf(kind: Frame['kind'], address: number, register: number, data?: Buffer): Frame {
  const unit = UNIT_LIST.find(one => one.address === address);
  const found = unit && registerMap(unit).find(one => one.address === register);
  if (unit === undefined || found === undefined) throw new Error(`no register ${register} at ${address}`);
  return { unit: unit.name, kind, register: found.name, data: data?.subarray(0, -1).toString('hex') ?? '' };
}
