import { createPhysics } from '../../sim/robot-physics.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { Autotune } from '../../src/autotune/autotune.js';
import { darkWhileTuning } from '../../src/autotune/dark-while-tuning.js';
import type { Propose } from '../../src/autotune/proposer.js';
import { perUnit } from '../../src/core/units.js';
import { GainsStore } from '../../src/gains/gains-store.js';
import { Robot } from '../../src/robot/robot.js';
import type { Tune } from '../../src/schemas/tune.js';
import { propose } from '../../src/tuning/propose.js';
import { everythingAllowed } from './everything-allowed.js';
import { noLock } from './journal-lines.js';
import { ManualClock } from './manual-clock.js';
import { RecordingDisk } from './recording-disk.js';

/** The robot's code on the simulated robot with its physics, in time that passes when a test says so. */
export class TuningBench {
  readonly clock = new ManualClock();
  readonly physics = createPhysics({ seed: 1, substeps: 1 });
  readonly sim = new SimulatedRobot({ clock: this.clock, physics: this.physics });
  readonly shown: Tune[] = [];
  robot!: Robot;
  autotune!: Autotune;
  readonly #propose: Propose;
  #store!: GainsStore;

  constructor(compute: Propose = async task => propose(task)) {
    this.#propose = compute;
  }

  async open(): Promise<void> {
    const { clock } = this;
    const disk = new RecordingDisk();
    this.#store = await GainsStore.open({ folder: '/state', clock, disk, lock: noLock });
    this.robot = new Robot({
      hardware: this.sim.hardware,
      store: this.#store,
      clock,
      permission: darkWhileTuning(() => this.autotune.isRunning, everythingAllowed),
      settings: {
        pollHz: 50,
        laserMaxOnS: 0,
        onControllerReset: 'manual',
        silence: perUnit(() => ({ beforeMs: 500, givenMs: 500 })),
      },
    });
    this.autotune = new Autotune({
      robot: this.robot,
      clock,
      propose: this.#propose,
      explain: ({ code }) => `in words: ${code}`,
    });
    this.autotune.changed.add(tune => this.shown.push(tune));
    await this.during(this.robot.start());
    await this.during(this.robot.units.gimbal.setMode('debug'));
  }

  async close(): Promise<void> {
    await this.during(this.robot.close());
    await this.#store.close();
  }

  async wait(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 2) await this.clock.advance(2);
  }

  async during<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const end = promise.finally(() => {
      settled = true;
    });
    end.catch(() => undefined);
    while (!settled) await this.clock.advance(1);
    return end;
  }

  start(leaseMs = 5000, loops: readonly string[] = ['angle_yaw']): Tune {
    return this.autotune.start({ unit: 'gimbal', loops, style: 'normal', by: 'lab', leaseMs });
  }

  get now(): Tune {
    const tune = this.autotune.of('gimbal');
    if (tune === undefined) throw new Error('nothing was tuned');
    return tune;
  }

  get running(): Record<string, { kp: number }> {
    return (this.sim.truth().gimbal as { gains: Record<string, { kp: number }> }).gains;
  }

  get saved() {
    return this.#store.current('gimbal');
  }
}
