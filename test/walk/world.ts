import { join } from 'node:path';
import type { FaultBody } from '../../sim/bus/faults.js';
import { tokenFile } from '../../src/access/token-file.js';
import { loadConfig } from '../../src/config/config.js';
import type { Config } from '../../src/config/settings.js';
import { UNIT_LIST } from '../../src/core/units.js';
import { logFileNames } from '../../src/events/numbered-files.js';
import { tokenListOf } from '../support/callers.js';
import { DaemonProcess } from '../support/daemon-process.js';
import { ManualClock, settle } from '../support/manual-clock.js';
import { Guard } from './guard.js';
import type { Step, WalkSettings } from './history.js';
import { lookAt } from './look.js';
import { Model, type Shown } from './model.js';
import { WalkCallers } from './walk-callers.js';
import { type DiskWeather, FAIR, WalkDisk } from './walk-disk.js';
import { CLEAR, WalkPage } from './walk-page.js';
import { WalkRobot } from './walk-robot.js';

const STATE_FOLDER = '/state';
const DAMAGED = Buffer.from('{"tokens":[');
const USUAL = loadConfig(undefined, {}, { host: 'localhost', state: STATE_FOLDER });
/**
 * After this many turns of the event loop, the daemon can only wait for the clock. `asked`: while a request is in flight.
 */
const TURNS = { asked: 5, quiet: 2 } as const;
/** This long after the last fault, every unit must be online and consistent. */
const SETTLE_MS = 2000;
/** The pause between two checks for consistency. */
const LOOK_MS = 100;
/** The longest wait for a pending start or answer. */
const PATIENCE_MS = 3000;
const CALL_MS = 60;
/** After this time, all frames of a daemon that has ended have taken effect. */
const EFFECT_MS = 20;
/** The clock's longest step. The simulated robot skips time beyond CATCH_UP_MS (2 s), so this must be shorter. */
const STRIDE_MS = 1000;

/** Takes the steps of a walk: robot, disk and callers in simulated time, with the model that judges them. */
export class World {
  /** The longest time so far from the end of the last fault until all units were consistent. */
  slowestSettleMs = 0;
  readonly clock = new ManualClock(() => (this.#model.outstanding.size > 0 ? TURNS.asked : TURNS.quiet));
  readonly guard = new Guard();
  #config: Config;
  readonly #robot: WalkRobot;
  readonly #disk = new WalkDisk(this.clock);
  readonly #model: Model;
  readonly #callers: WalkCallers;
  #page: WalkPage | undefined;
  #boots = 0;
  #daemon: DaemonProcess | undefined;

  constructor(settings: WalkSettings) {
    const { frameMs, effectMs, laserMaxOnS, refereeSilenceMs, onRefereeSilence, ...supervision } = settings;
    this.#config = {
      ...USUAL,
      supervision: { ...USUAL.supervision, ...supervision },
      laser: { ...USUAL.laser, maxOnS: laserMaxOnS },
      match: { ...USUAL.match, refereeSilenceMs, onRefereeSilence },
    };
    this.#model = new Model(settings);
    this.#robot = new WalkRobot(this.clock, settings, {
      wrote: frame => this.#model.wrote(frame, this.clock.nowMs()),
      changed: () => this.#watch(),
    });
    this.#callers = new WalkCallers({
      clock: this.clock,
      model: this.#model,
      guard: this.guard,
      daemon: () => this.#daemon,
      truth: () => this.#robot.truth,
    });
  }

  /** Throws BrokenPromise. */
  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'ask':
        this.#callers.ask(step.request, step.hangUpAfterMs);
        break;
      case 'press':
        this.#openPage().press(step.pressed);
        break;
      case 'network':
        this.#openPage().network = step.network;
        break;
      case 'flood':
        this.#callers.flood(step);
        break;
      case 'wait':
        await this.#pass(step.ms);
        break;
      case 'late':
        this.clock.late(step.ms);
        this.#model.late(this.clock.nowMs(), this.#robot.wire.busy ? step.ms : 0);
        this.#callers.ask(step.request);
        break;
      case 'fault':
        this.#fault(step.fault);
        break;
      case 'lose answers':
        this.#robot.wire.lostAnswers = step.count;
        this.#model.trouble(this.clock.nowMs());
        break;
      case 'disk':
        this.#weather(step.weather);
        this.#model.stop.diskFails();
        this.#model.trouble(this.clock.nowMs());
        break;
      case 'tokens':
        this.#disk.put(tokenFile(STATE_FOLDER), step.list === 'damaged' ? DAMAGED : tokenListOf(step.list));
        this.#model.tokens(step.list, this.clock.nowMs());
        break;
      case 'wall clock':
        this.clock.jumpWallTime(step.jumpMs);
        break;
      case 'interlock':
        this.#interlock(step.closed);
        break;
      case 'end':
        await this.#end(step);
        break;
      case 'settle':
        await this.#settle();
        break;
    }
    await settle();
    this.#watch();
    this.guard.check();
  }

  async start(): Promise<void> {
    const daemon = new DaemonProcess({
      config: this.#config,
      hardware: this.#robot.hardware(),
      clock: this.clock,
      disk: this.#disk,
      boot: { id: `boot ${this.#boots}`, nowMs: () => this.clock.nowMs() },
    });
    this.#daemon = daemon;
    this.#model.started(this.clock.nowMs());
    if (this.#disk.isUnreadable) this.#model.unread();
    daemon.start().catch(this.guard.keep);
    await settle();
  }

  /** Kills the daemon, so that nothing acts after the walk. */
  close(): void {
    this.#daemon?.kill();
  }

  #watch(): void {
    this.guard.run(() =>
      this.#model.watch(this.#robot.truth, this.#daemon?.listens !== false, this.clock.nowMs()),
    );
  }

  #openPage(): WalkPage {
    this.#page ??= new WalkPage({
      clock: this.clock,
      ask: request => this.#callers.ask(request),
      guard: this.guard,
    });
    return this.#page;
  }

  async #pass(ms: number, until: () => boolean = () => false): Promise<void> {
    const endMs = this.clock.nowMs() + ms;
    while (this.clock.nowMs() < endMs && !until()) {
      const strideMs = Math.min(STRIDE_MS, endMs - this.clock.nowMs());
      await this.clock.advance(strideMs, () => this.guard.isBroken || until());
      this.#watch();
      this.guard.check();
    }
  }

  #fault(fault: FaultBody): void {
    const nowMs = this.clock.nowMs();
    this.#model.trouble(nowMs);
    if (fault.target === 'pin') this.#model.light.pin(fault.fault !== 'clear', nowMs);
    else if (fault.fault === 'clear' && fault.target === 'bus') this.#model.light.pin(false, nowMs);
    else if (fault.fault === 'brownout' && fault.target !== 'bus') this.#model.reset(fault.target, nowMs);
    for (const { name } of UNIT_LIST) {
      if (fault.target !== name && fault.target !== 'bus') continue;
      if (fault.fault === 'plug' || fault.fault === 'clear') this.#model.plugged(name, true, nowMs);
      if (fault.fault === 'unplug') this.#model.plugged(name, fault.count !== undefined, nowMs);
    }
    this.#robot.inject(fault);
  }

  #weather(weather: DiskWeather): void {
    if (weather === this.#disk.weather) return;
    this.#disk.weather = weather;
    this.#model.access.disk(this.#disk.isUnreadable, this.clock.nowMs());
    if (this.#disk.isUnreadable && this.#daemon?.listens === false) this.#model.unread();
  }

  #interlock(closed: boolean): void {
    if (this.#robot.isInterlockClosed !== closed) this.#model.interlock(closed);
    this.#robot.isInterlockClosed = closed;
  }

  async #end(step: Extract<Step, { do: 'end' }>): Promise<void> {
    this.#model.trouble(this.clock.nowMs(), false);
    this.#model.ends();
    const daemon = this.#daemon;
    if (step.how === 'term') {
      let gone = false;
      void daemon?.close().then(() => {
        gone = true;
      });
      await this.#pass(PATIENCE_MS, () => gone);
    } else {
      daemon?.kill();
      // A killed process is gone only when the kernel has ended its last call.
      await this.#pass(CALL_MS, () => !this.#robot.wire.busy);
    }
    this.#daemon = undefined;
    await this.#pass(EFFECT_MS);
    await this.#disk.finish();
    if (step.how === 'cut') {
      this.#disk.cutPower(step.left);
      this.#boots += 1;
    }
    this.#model.light.pin(false, this.clock.nowMs());
    this.#robot.darken();
    await settle();
    if (this.#disk.forgets) this.#model.forgets();
    this.#model.ended(this.#robot.truth, step.how === 'cut', this.clock.nowMs());
    if (step.controllersToo)
      for (const { name } of UNIT_LIST) this.#fault({ target: name, fault: 'brownout' });
    await this.#pass(step.downMs);
    if (step.hostSilenceMs !== undefined) {
      const { hostSilenceMs } = step;
      this.#config = { ...this.#config, supervision: { ...this.#config.supervision, hostSilenceMs } };
    }
    await this.start();
  }

  async #settle(): Promise<void> {
    this.#robot.clear();
    this.#weather(FAIR);
    this.#interlock(true);
    if (this.#page !== undefined) this.#page.network = CLEAR;
    for (const { name } of UNIT_LIST) this.#model.plugged(name, true, this.clock.nowMs());
    this.#model.light.pin(false, this.clock.nowMs());
    this.#model.calm(this.clock.nowMs());
    await this.#pass(PATIENCE_MS, () => this.#daemon?.listens === true && this.#model.outstanding.size === 0);
    const sinceMs = this.clock.nowMs();
    for (;;) {
      await this.#pass(LOOK_MS);
      try {
        await this.#judged();
        const agreedMs = this.clock.nowMs();
        // Looks again, because a unit may seem consistent for a moment while the daemon corrects it.
        await this.#pass(LOOK_MS);
        this.#model.adopt(this.#robot.truth, await this.#judged(), this.clock.nowMs());
        this.slowestSettleMs = Math.max(this.slowestSettleMs, agreedMs - sinceMs);
        return;
      } catch (error) {
        if (this.clock.nowMs() >= sinceMs + SETTLE_MS) throw error;
      }
    }
  }

  async #judged(): Promise<Shown> {
    const shown = await lookAt(this.#daemon, this.#model.access.someone);
    const logged = logFileNames(this.#disk.names(STATE_FOLDER)).map(name => ({
      name,
      content: this.#disk.content(join(STATE_FOLDER, name)),
    }));
    this.#model.judgeSettled(this.#robot.truth, shown, logged, this.clock.nowMs());
    this.#page?.judgeSettled();
    return shown;
  }
}
