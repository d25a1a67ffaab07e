import { loadConfig } from '../../src/config/config.js';
import type { Config } from '../../src/config/settings.js';
import { DaemonProcess } from '../support/daemon-process.js';
import { type ManualClock, settle } from '../support/manual-clock.js';
import type { Guard } from './guard.js';
import type { WalkSettings, WalkStep } from './history.js';
import type { Model } from './model.js';
import type { WalkDisk } from './walk-disk.js';
import type { WalkRobot } from './walk-robot.js';

export const STATE_FOLDER = '/state';
const USUAL = loadConfig(undefined, {}, { host: 'localhost', state: STATE_FOLDER });
/** The longest wait for the end of a daemon. */
const PATIENCE_MS = 3000;
const CALL_MS = 60;
/** After this time, all frames of a daemon that has ended have taken effect. */
const EFFECT_MS = 20;

/** What every part of a world shares. */
export interface Shared {
  readonly clock: ManualClock;
  readonly guard: Guard;
  readonly model: Model;
  readonly robot: WalkRobot;
  readonly disk: WalkDisk;
}

/** Lets time pass, until the condition holds. */
type Pass = (ms: number, until?: () => boolean) => Promise<void>;

/** The daemons of a walk, one after the other, on one robot and one disk. */
export class Daemons {
  readonly #shared: Shared;
  readonly #pass: Pass;
  #config: Config;
  #boots = 0;
  #running: DaemonProcess | undefined;

  constructor(settings: WalkSettings, shared: Shared, pass: Pass) {
    const { frameMs, effectMs, laserMaxOnS, refereeSilenceMs, onRefereeSilence, ...supervision } = settings;
    this.#shared = shared;
    this.#pass = pass;
    this.#config = {
      ...USUAL,
      supervision: { ...USUAL.supervision, ...supervision },
      laser: { ...USUAL.laser, maxOnS: laserMaxOnS },
      match: { ...USUAL.match, refereeSilenceMs, onRefereeSilence },
    };
  }

  get running(): DaemonProcess | undefined {
    return this.#running;
  }

  async start(): Promise<void> {
    const { clock, guard, model, robot, disk } = this.#shared;
    const boot = { id: `boot ${this.#boots}`, nowMs: () => clock.nowMs() };
    const daemon = new DaemonProcess({ config: this.#config, hardware: robot.hardware(), clock, disk, boot });
    this.#running = daemon;
    model.started(clock.nowMs());
    if (disk.isUnreadable) model.unread();
    daemon.start().catch(guard.keep);
    await settle();
  }

  async end({ how, left, hostSilenceMs }: Extract<WalkStep, { do: 'end' }>): Promise<void> {
    const { clock, model, robot, disk } = this.#shared;
    model.trouble(clock.nowMs(), false);
    model.ends();
    const daemon = this.#running;
    if (how === 'term') {
      let gone = false;
      void daemon?.close().then(() => {
        gone = true;
      });
      await this.#pass(PATIENCE_MS, () => gone);
    } else {
      daemon?.kill();
      // A killed process is gone only when the kernel has ended its last call.
      await this.#pass(CALL_MS, () => !robot.wire.busy);
    }
    this.#running = undefined;
    await this.#pass(EFFECT_MS);
    await disk.finish();
    if (how === 'cut') {
      disk.cutPower(left);
      this.#boots += 1;
    }
    model.light.pin(false, clock.nowMs());
    robot.darken();
    await settle();
    if (disk.forgets) model.forgets();
    model.ended(robot.truth, how === 'cut', clock.nowMs());
    if (hostSilenceMs !== undefined)
      this.#config = { ...this.#config, supervision: { ...this.#config.supervision, hostSilenceMs } };
  }
}
