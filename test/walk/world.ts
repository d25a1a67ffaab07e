import { join } from 'node:path';
import { SimulatedRobot } from '../../sim/simulated-robot.js';
import { tokenFile } from '../../src/access/token-file.js';
import { loadConfig } from '../../src/config/config.js';
import type { Config } from '../../src/config/settings.js';
import { perUnit, UNIT_LIST } from '../../src/core/units.js';
import { logFileNames } from '../../src/events/numbered-files.js';
import type { Hardware } from '../../src/hardware/ports.js';
import { tokenListOf } from '../support/callers.js';
import { DaemonProcess } from '../support/daemon-process.js';
import { ManualClock, settle } from '../support/manual-clock.js';
import { type Answer, type Asked, type Call, isTaken } from './asked.js';
import { LATEST_ID, type Step, type WalkSettings } from './history.js';
import { LightLoops } from './light-loops.js';
import { lookAt } from './look.js';
import { Model, type Shown } from './model.js';
import type { Request } from './request.js';
import { type Truth, truthOf } from './truth.js';
import { type DiskWeather, FAIR, WalkDisk } from './walk-disk.js';
import { CLEAR, WalkPage } from './walk-page.js';
import { Wire } from './wire.js';

const STATE_FOLDER = '/state';
const DAMAGED = Buffer.from('{"tokens":[');
const USUAL = loadConfig(undefined, {}, { host: 'localhost', state: STATE_FOLDER });
const LOOP_RATE_HZ = 1000;
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

/** The robot, its disk and its callers in simulated time, with the model that judges them. */
export class World {
  /** The longest time so far from the end of the last fault until all units were consistent. */
  slowestSettleMs = 0;
  readonly clock = new ManualClock(() => (this.#model.outstanding.size > 0 ? TURNS.asked : TURNS.quiet));
  #config: Config;
  readonly #loops = perUnit(unit => new LightLoops(unit, LOOP_RATE_HZ));
  readonly #robot: SimulatedRobot;
  readonly #disk = new WalkDisk(this.clock);
  readonly #wire: Wire;
  readonly #model: Model;
  readonly #opened: (() => void)[] = [];
  #page: WalkPage | undefined;
  /** The id of the latest trial or tuning, by path. */
  readonly #ids = new Map<string, string>();
  #boots = 0;
  #interlockClosed = true;
  #life: DaemonProcess | undefined;
  /** The first error so far, usually a BrokenPromise. It ends the walk. */
  #broken: unknown;

  constructor(settings: WalkSettings) {
    const { frameMs, effectMs, laserMaxOnS, refereeSilenceMs, onRefereeSilence, ...supervision } = settings;
    this.#config = {
      ...USUAL,
      supervision: { ...USUAL.supervision, ...supervision },
      laser: { ...USUAL.laser, maxOnS: laserMaxOnS },
      match: { ...USUAL.match, refereeSilenceMs, onRefereeSilence },
    };
    this.#robot = new SimulatedRobot({
      clock: this.clock,
      effectMs,
      physics: { loops: this.#loops, loopRateHz: LOOP_RATE_HZ, step: () => undefined },
    });
    this.#model = new Model(settings);
    this.#wire = new Wire({
      bus: this.#robot.hardware.bus,
      clock: this.clock,
      frameMs,
      watch: {
        wrote: frame => this.#model.wrote(frame, this.clock.nowMs()),
        changed: () => this.#watch(),
      },
    });
  }

  /** Throws BrokenPromise. */
  async take(step: Step): Promise<void> {
    switch (step.do) {
      case 'ask':
        this.#ask(step.request, step.hangUpAfterMs);
        break;
      case 'press':
        this.#openPage().press(step.pressed);
        break;
      case 'network':
        this.#openPage().network = step.network;
        break;
      case 'flood':
        this.#flood(step);
        break;
      case 'wait':
        await this.#pass(step.ms);
        break;
      case 'late':
        this.clock.late(step.ms);
        this.#model.late(this.clock.nowMs());
        this.#ask(step.request);
        break;
      case 'fault':
        this.#fault(step.fault);
        break;
      case 'lose answers':
        this.#wire.lostAnswers = step.count;
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
    if (this.#broken !== undefined) throw this.#broken;
  }

  async start(): Promise<void> {
    const { bus: _, ...hardware } = this.#robot.hardware;
    const parts: Hardware = {
      ...hardware,
      // As on a real robot, a stop must survive a restart of the daemon.
      simulated: false,
      bus: this.#wire.port(),
      interlock: {
        isClosed: () => this.#interlockClosed,
        onOpen: listener => this.#opened.push(listener),
      },
    };
    const life = new DaemonProcess({
      config: this.#config,
      hardware: parts,
      clock: this.clock,
      disk: this.#disk,
      boot: { id: `boot ${this.#boots}`, nowMs: () => this.clock.nowMs() },
    });
    this.#life = life;
    this.#model.started(this.clock.nowMs());
    if (this.#disk.isUnreadable) this.#model.unread();
    life.start().catch(error => {
      this.#broken ??= error;
    });
    await settle();
  }

  /** Kills the daemon, so that nothing acts after the walk. */
  close(): void {
    this.#life?.kill();
  }

  #truth(): Truth {
    return truthOf(this.#robot, this.#loops);
  }

  #watch(): void {
    try {
      this.#model.watch(this.#truth(), this.#life?.listens !== false, this.clock.nowMs());
    } catch (error) {
      this.#broken ??= error;
    }
  }

  #openPage(): WalkPage {
    this.#page ??= new WalkPage({
      clock: this.clock,
      ask: request => this.#ask(request),
      broken: error => {
        this.#broken ??= error;
      },
    });
    return this.#page;
  }

  /** Sends a request. Returns undefined if the daemon does not listen. */
  #ask(asked: Request, hangUpAfterMs?: number): Call | undefined {
    const request = this.#withId(asked);
    const { method, path, body, as, elsewhere } = request;
    const call = this.#life?.send<NonNullable<Answer['body']>>({
      ask: `${method} ${path}`,
      ...(body !== undefined && { body }),
      ...(as !== undefined && { as }),
      ...(elsewhere && { from: '192.0.2.2' }),
    });
    if (call === undefined) return undefined;
    const sent = this.#model.sent(request, this.clock.nowMs());
    const hangUp = () => {
      this.#model.hungUp(sent, this.clock.nowMs());
      call.hangUp();
    };
    if (hangUpAfterMs !== undefined) this.clock.after(hangUpAfterMs, hangUp);
    const answer = call.answer.then(answer => {
      this.#answered(sent, answer);
      return answer;
    });
    return { answer, hangUp };
  }

  /** Replaces LATEST_ID in the body by the id that was answered last for this path. */
  #withId(request: Request): Request {
    const { path, body } = request;
    if (typeof body !== 'object' || body === null) return request;
    if (!('id' in body) || body.id !== LATEST_ID) return request;
    return { ...request, body: { ...body, id: this.#ids.get(path) ?? 'none' } };
  }

  #answered(asked: Asked, answer: Answer): void {
    const { path } = asked.request;
    if (/(trial|autotune)$/.test(path) && isTaken(answer)) this.#ids.set(path, String(answer.body?.id));
    try {
      this.#model.answered(asked, answer, this.#truth(), this.clock.nowMs());
    } catch (error) {
      this.#broken ??= error;
    }
  }

  #flood({ request, callers, pauseMs, forMs }: Extract<Step, { do: 'flood' }>): void {
    const life = this.#life;
    const untilMs = this.clock.nowMs() + forMs;
    for (let caller = 0; caller < callers; caller += 1) {
      const again = async () => {
        while (this.clock.nowMs() < untilMs && this.#life === life) {
          const answer = await this.#ask(request)?.answer;
          if (answer === undefined) return;
          await new Promise<void>(resolve => this.clock.after(pauseMs, resolve));
        }
      };
      void again();
    }
  }

  async #pass(ms: number, until: () => boolean = () => false): Promise<void> {
    const endMs = this.clock.nowMs() + ms;
    while (this.clock.nowMs() < endMs && !until()) {
      const strideMs = Math.min(STRIDE_MS, endMs - this.clock.nowMs());
      await this.clock.advance(strideMs, () => this.#broken !== undefined || until());
      this.#watch();
      if (this.#broken !== undefined) throw this.#broken;
    }
  }

  #fault(fault: Parameters<SimulatedRobot['inject']>[0]): void {
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
    if (this.#disk.isUnreadable && this.#life?.listens === false) this.#model.unread();
  }

  #interlock(closed: boolean): void {
    const opens = this.#interlockClosed && !closed;
    if (this.#interlockClosed !== closed) this.#model.interlock(closed);
    this.#interlockClosed = closed;
    if (!opens) return;
    for (const listener of this.#opened) listener();
  }

  async #end(step: Extract<Step, { do: 'end' }>): Promise<void> {
    this.#model.trouble(this.clock.nowMs(), false);
    this.#model.ends();
    const life = this.#life;
    if (step.how === 'term') {
      let gone = false;
      void life?.close().then(() => {
        gone = true;
      });
      await this.#pass(PATIENCE_MS, () => gone);
    } else {
      life?.kill();
      // A killed process is gone only when the kernel has ended its last call.
      await this.#pass(CALL_MS, () => !this.#wire.busy);
    }
    this.#life = undefined;
    await this.#pass(EFFECT_MS);
    await this.#disk.finish();
    if (step.how === 'cut') {
      this.#disk.cutPower(step.left);
      this.#boots += 1;
    }
    // Darkens the pin, as trunnion-dark does when the daemon has ended. Without power the pin is dark anyway.
    this.#robot.inject({ target: 'pin', fault: 'clear' });
    this.#model.light.pin(false, this.clock.nowMs());
    const { laser } = this.#robot.hardware;
    if ('write' in laser) laser.write(false);
    await settle();
    if (this.#disk.forgets) this.#model.forgets();
    this.#model.ended(this.#truth(), step.how === 'cut', this.clock.nowMs());
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
    this.#robot.inject({ target: 'bus', fault: 'clear' });
    for (const { name } of UNIT_LIST) this.#robot.inject({ target: name, fault: 'clear' });
    this.#robot.inject({ target: 'pin', fault: 'clear' });
    this.#wire.lostAnswers = 0;
    this.#weather(FAIR);
    this.#interlock(true);
    if (this.#page !== undefined) this.#page.network = CLEAR;
    for (const { name } of UNIT_LIST) this.#model.plugged(name, true, this.clock.nowMs());
    this.#model.light.pin(false, this.clock.nowMs());
    this.#model.calm(this.clock.nowMs());
    await this.#pass(PATIENCE_MS, () => this.#life?.listens === true && this.#model.outstanding.size === 0);
    const sinceMs = this.clock.nowMs();
    for (;;) {
      await this.#pass(LOOK_MS);
      try {
        await this.#judged();
        const agreedMs = this.clock.nowMs();
        // Looks again, because a unit may seem consistent for a moment while the daemon corrects it.
        await this.#pass(LOOK_MS);
        this.#model.adopt(this.#truth(), await this.#judged(), this.clock.nowMs());
        this.slowestSettleMs = Math.max(this.slowestSettleMs, agreedMs - sinceMs);
        return;
      } catch (error) {
        if (this.clock.nowMs() >= sinceMs + SETTLE_MS) throw error;
      }
    }
  }

  async #judged(): Promise<Shown> {
    const shown = await lookAt(this.#life, this.#model.access.someone);
    const logged = logFileNames(this.#disk.names(STATE_FOLDER)).map(name => ({
      name,
      content: this.#disk.content(join(STATE_FOLDER, name)),
    }));
    this.#model.judgeSettled(this.#truth(), shown, logged, this.clock.nowMs());
    this.#page?.judgeSettled();
    return shown;
  }
}
