import { createPhysics } from '../../sim/robot-physics.js';
import { Autotune } from '../../src/autotune/autotune.js';
import type { Propose } from '../../src/autotune/proposer.js';
import { unitNamed } from '../../src/core/units.js';
import { REGISTERS } from '../../src/protocol/registers.js';
import type { Tune } from '../../src/schemas/tune.js';
import { propose } from '../../src/tuning/propose.js';
import { ClockedRobot, everythingAllowed, write } from './clocked-robot.js';

/** The robot's code with the tuner, on the simulated robot with its physics. */
export class TuningBench extends ClockedRobot {
  readonly physics;
  readonly shown: Tune[] = [];
  autotune!: Autotune;
  readonly #propose: Propose;

  constructor(compute: Propose = async task => propose(task)) {
    const physics = createPhysics({ seed: 1, substeps: 1 });
    super({}, everythingAllowed, physics);
    this.physics = physics;
    this.#propose = compute;
  }

  async open(): Promise<void> {
    await this.restart();
    this.autotune = new Autotune({
      robot: this.robot,
      clock: this.clock,
      deadlines: this.deadlines,
      propose: this.#propose,
      explain: ({ code }) => `in words: ${code}`,
      bounds: {},
    });
    this.autotune.changed.add(tune => this.shown.push(tune));
    await this.during(this.gimbal.setMode('debug'));
  }

  close(): Promise<void> {
    return this.end();
  }

  /** Computing takes real time, so this waits without a limit. */
  override during<T>(promise: Promise<T>): Promise<T> {
    return super.during(promise, Number.POSITIVE_INFINITY);
  }

  start(leaseMs = 5000, loops: readonly string[] = ['angle_yaw']): Tune {
    return this.autotune.start({ unit: 'gimbal', loops, style: 'normal', by: 'lab', leaseMs });
  }

  /** Renews the tuning until it ends or until `isReached` holds. Calls `look` after each step. */
  async renewed(isReached: () => boolean = () => false, look = () => {}, stepMs = 2): Promise<void> {
    for (let ms = 0; this.now.state === 'running' && !isReached(); ms += stepMs) {
      if (ms % 1000 === 0)
        void this.autotune.renew('gimbal', this.now.id, 'lab', 5000).catch(() => undefined);
      await this.wait(stepMs);
      look();
    }
  }

  /** Makes the guard of the gimbal's controller end the excitation. The daemon has not seen the end yet. */
  async tripGuard(loop: string): Promise<void> {
    const { slot = 0 } = unitNamed('gimbal').loops.find(({ name }) => name === loop) ?? {};
    const guarded = { slot, amplitude: 0.1, period_s: 2, deviation: 1e-6 };
    await write(this, 'gimbal', REGISTERS.guarded_excitation, guarded);
    await this.wait(2);
  }

  get now(): Tune {
    const tune = this.autotune.of('gimbal');
    if (tune === undefined) throw new Error('nothing was tuned');
    return tune;
  }

  get running(): Record<string, { kp: number }> {
    return this.truth('gimbal').gains ?? {};
  }

  get saved() {
    return this.robot.store.current('gimbal');
  }
}
