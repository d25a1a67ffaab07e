import { join } from 'node:path';
import { tokenFile } from '../../src/access/token-file.js';
import { UNIT_LIST } from '../../src/core/units.js';
import { logFileNames } from '../../src/events/numbered-files.js';
import { tokenListOf } from '../support/callers.js';
import { ManualClock, settle } from '../support/manual-clock.js';
import { Daemons, type Shared, STATE_FOLDER } from './daemons.js';
import { Faults } from './faults.js';
import { Guard } from './guard.js';
import type { WalkSettings, WalkStep } from './history.js';
import { lookAt } from './look.js';
import { Model, type Shown } from './model.js';
import { WalkCallers } from './walk-callers.js';
import { WalkDisk } from './walk-disk.js';
import { CLEAR, WalkPage } from './walk-page.js';
import { WalkRobot } from './walk-robot.js';

const DAMAGED = Buffer.from('{"tokens":[');
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
/** The clock's longest step. The simulated robot skips time beyond CATCH_UP_MS (2 s), so this must be shorter. */
const STRIDE_MS = 1000;

/** Takes the steps of a walk, in simulated time. The model judges what happens. */
export class World {
  /** The longest time so far from the end of the last fault until all units were consistent. */
  slowestSettleMs = 0;
  readonly clock = new ManualClock(() => (this.#model.outstanding.size > 0 ? TURNS.asked : TURNS.quiet));
  readonly guard = new Guard();
  readonly #robot: WalkRobot;
  readonly #disk = new WalkDisk(this.clock);
  readonly #model: Model;
  readonly #callers: WalkCallers;
  readonly #daemons: Daemons;
  readonly #faults: Faults;
  #page: WalkPage | undefined;

  constructor(settings: WalkSettings) {
    const { clock, guard } = this;
    const model = new Model(settings);
    this.#model = model;
    this.#robot = new WalkRobot(clock, settings, {
      wrote: frame => model.wrote(frame, clock.nowMs()),
      changed: () => this.#watch(),
    });
    const shared: Shared = { clock, guard, model, robot: this.#robot, disk: this.#disk };
    this.#daemons = new Daemons(settings, shared, (ms, until) => this.#pass(ms, until));
    this.#faults = new Faults(shared, () => this.#daemons.running?.listens === false);
    this.#callers = new WalkCallers(shared, () => this.#daemons.running);
  }

  /** Throws BrokenPromise. */
  async take(step: WalkStep): Promise<void> {
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
        this.#model.late(this.clock.nowMs(), step.ms, this.#robot.wire.busy ? step.ms : 0);
        this.#callers.ask(step.request);
        break;
      case 'fault':
        this.#faults.inject(step.fault);
        break;
      case 'lose answers':
        this.#faults.loseAnswers(step.count);
        break;
      case 'disk':
        this.#faults.disk(step.weather);
        break;
      case 'tokens':
        this.#disk.put(tokenFile(STATE_FOLDER), step.list === 'damaged' ? DAMAGED : tokenListOf(step.list));
        this.#model.tokens(step.list, this.clock.nowMs());
        break;
      case 'wall clock':
        this.clock.jumpWallTime(step.jumpMs);
        break;
      case 'interlock':
        this.#faults.interlock(step.closed);
        break;
      case 'end':
        await this.#daemons.end(step);
        if (step.controllersToo)
          for (const { name } of UNIT_LIST) this.#faults.inject({ target: name, fault: 'brownout' });
        await this.#pass(step.downMs);
        await this.start();
        break;
      case 'settle':
        await this.#settle();
        break;
    }
    await settle();
    this.#watch();
    this.guard.check();
  }

  start(): Promise<void> {
    return this.#daemons.start();
  }

  /** Kills the daemon, so that nothing acts after the walk. */
  close(): void {
    this.#daemons.running?.kill();
  }

  #watch(): void {
    const serves = this.#daemons.running?.listens !== false;
    this.guard.run(() => this.#model.watch(this.#robot.truth, serves, this.clock.nowMs()));
  }

  #openPage(): WalkPage {
    const { clock, guard } = this;
    this.#page ??= new WalkPage({ clock, guard, ask: request => this.#callers.ask(request) });
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

  async #settle(): Promise<void> {
    this.#faults.clear();
    if (this.#page !== undefined) this.#page.network = CLEAR;
    const isServed = () => this.#daemons.running?.listens === true;
    await this.#pass(PATIENCE_MS, () => isServed() && this.#model.outstanding.size === 0);
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
    const shown = await lookAt(this.#daemons.running, this.#model.access.someone);
    const logged = logFileNames(this.#disk.names(STATE_FOLDER)).map(name => ({
      name,
      content: this.#disk.content(join(STATE_FOLDER, name)),
    }));
    this.#model.judgeSettled(this.#robot.truth, shown, logged, this.clock.nowMs());
    this.#page?.judgeSettled();
    return shown;
  }
}
