import { DaemonLife } from '../../scripts/walk/daemon-life.js';
import { createPico, type PicoController } from '../../sim/pico/pico-robot.js';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { loadConfig } from '../../src/config/config.js';
import { unitNamed } from '../../src/core/units.js';
import { propose } from '../../src/tuning/propose.js';
import { ManualClock } from '../support/manual-clock.js';
import { RecordingDisk } from '../support/recording-disk.js';
import { core } from './core.js';

/** A daemon whose gimbal is the image in an emulated Pico. Its chassis runs the core. All of it lives in virtual time. */
export class ImageRobot {
  readonly clock = new ManualClock();
  readonly pico: PicoController;
  readonly sim: SimulatedRobot;
  readonly #disk = new RecordingDisk();
  #life: DaemonLife | undefined;

  constructor() {
    const { pico, robot } = createPico(unitNamed('gimbal'), core, { seed: 1 });
    this.pico = pico;
    this.sim = new SimulatedRobot({
      clock: this.clock,
      // The loop periods of the image move the mechanics.
      physics: { ...robot.physics, step: () => undefined },
      controller: unit => (unit.hasCamera ? pico : robot.controller(unit)),
    });
  }

  /** A new daemon on the same controllers and disk. One that runs is killed. */
  async start(): Promise<void> {
    this.#life?.kill();
    this.#life = new DaemonLife({
      config: loadConfig(undefined, {}, { host: 'localhost', state: '/state' }),
      hardware: this.sim.hardware,
      clock: this.clock,
      disk: this.#disk,
      boot: { id: 'boot', nowMs: () => this.clock.nowMs() },
      propose: async task => propose(task),
    });
    await this.clock.during(this.#life.start());
  }

  kill(): void {
    this.#life?.kill();
  }

  async wait(ms: number): Promise<void> {
    await this.clock.advance(ms);
    // Reading the truth advances the simulation. Without a daemon nothing else does.
    this.sim.truth();
  }

  /** The body of a 200 or 202. Any other answer throws. */
  async ask(
    method: 'GET' | 'POST',
    path: string,
    body?: unknown,
  ): Promise<Readonly<Record<string, unknown>>> {
    const call = this.#life?.ask({ method, path, body });
    if (call === undefined) throw new Error('no daemon listens');
    const answer = await this.clock.during(call.answer);
    if (answer.status > 202) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body ?? {};
  }
}
