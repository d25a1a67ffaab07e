import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import { type Excitation, type Mode, perUnit, type UnitName } from '../../core/units.js';
import type { Status, TrialStatus } from '../../schemas/status.js';
import type { Step } from '../../schemas/step.js';
import type { Tune } from '../../schemas/tune.js';
import type { Session } from '../access/session.js';
import type { Daemon } from '../daemon/daemon.js';
import type { Outcome } from '../daemon/request.js';
import type { Sample } from '../daemon/robot-state.js';
import { EventLog } from '../log/event-log.js';
import { Act } from '../parts/act.js';
import { keepEdits } from './kept-edits.js';
import { LaserAsk } from './laser-ask.js';
import { keyOf, type LoopChoice } from './loop-choice.js';
import { Runs } from './runs.js';
import { StopAsk } from './stop-ask.js';
import { Telemetry } from './telemetry.js';
import { Tuning } from './tuning.js';
import { UnitGains } from './unit-gains.js';

/** What this page knows of the robot, and what is asked of it here. */
export class Model {
  readonly status = signal<Status | undefined>(undefined);
  /** What `status` says is known to hold now. */
  readonly fresh = signal(false);
  /** Not listening, because other windows do. */
  readonly resting = signal(false);
  /** Why nothing is heard of a daemon that answers; empty where that is not known. */
  readonly deafness = signal('');
  readonly choice = signal<LoopChoice>({ unit: 'gimbal', loop: 'angle_yaw' });
  readonly gains: Readonly<Record<UnitName, UnitGains>>;
  readonly telemetry = new Telemetry();
  readonly log: EventLog;
  readonly tuning: Tuning;
  readonly runs: Runs;
  /** Undefined until the daemon has said it. One that asks nobody gives all rights. */
  readonly session = signal<Session | undefined>(undefined);
  /** The chosen loop's last tuning, until somebody puts it away. */
  readonly tuned: ReadonlySignal<Tune | undefined> = computed(() => {
    const tune = this.tuning.tunes[this.choice.value.unit].value;
    return tune?.loop === this.choice.value.loop && tune.id !== this.tuning.dismissed.value
      ? tune
      : undefined;
  });
  readonly entering = new Act('Session');
  readonly stop: StopAsk;
  readonly resuming = new Act('Resume');
  readonly laser: LaserAsk;
  readonly modes = perUnit(({ title }) => new Act(`${title} mode`));
  readonly exciting = perUnit(({ title }) => new Act(`${title} excitation`));
  readonly #daemon: Daemon;
  /** No status has come since the stream was opened. */
  #isOpened = false;
  /** How often it was asked who is here, and which of these answers was the newest. */
  #asked = 0;
  #answered = 0;

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
    const { status, fresh } = this;
    this.laser = new LaserAsk(daemon, status, fresh);
    this.stop = new StopAsk({
      daemon,
      status,
      fresh,
      rights: () => this.session.peek()?.rights.join(),
      darkening: () => this.laser.darkening(),
    });
    this.log = new EventLog(daemon);
    this.gains = perUnit(unit => new UnitGains(unit, daemon));
    this.tuning = new Tuning({
      daemon,
      prepare: async choice => {
        if (keyOf(choice) !== keyOf(this.choice.peek())) this.choice.value = choice;
        const { mode } = this.status.peek()?.[choice.unit] ?? {};
        return mode === 'debug' || this.switchMode(choice.unit, 'debug');
      },
    });
    this.runs = new Runs(daemon, this.choice, this.tuned);
    keepEdits(this.gains);
    effect(() => {
      if (this.fresh.value) this.deafness.value = '';
      else this.telemetry.breakOff();
    });
    effect(() => {
      if (this.isStopping) this.tuning.breakOff('the robot was stopped');
    });
  }

  /** A stop holds, or has no answer yet: what it refuses need not be tried. */
  get isStopping(): boolean {
    return this.stop.stopped === true || this.stop.isUnheard;
  }

  /** Whether whoever is here may, and the match lets it happen; what is not known is left to the daemon. */
  may(act: 'drive' | 'laser' | 'tune' | 'resume'): boolean {
    if (!this.hasRight(act === 'tune' ? act : 'drive')) return false;
    const match = this.status.value?.match;
    return match === undefined || (match.allows[act] && match.lock === null);
  }

  /** It is all that whoever ends a trial or a tuning needs, whatever a match forbids. */
  hasRight(right: 'drive' | 'tune'): boolean {
    return this.session.value?.rights.includes(right) ?? true;
  }

  /** Whoever is here may not see the robot: the page shows the login in place of its panels. */
  get isShut(): boolean {
    const session = this.session.value;
    return session !== undefined && session.access !== 'open' && !session.rights.includes('read');
  }

  async lookWhoIsHere(): Promise<boolean> {
    const turn = ++this.#asked;
    const outcome = await this.#daemon.session();
    if ('body' in outcome) this.#know(outcome.body, turn);
    return 'body' in outcome;
  }

  #know(session: Session, turn: number): void {
    if (turn < this.#answered) return;
    this.#answered = turn;
    this.session.value = session;
    this.#again();
  }

  /** The daemon answers, or is heard: what reached nobody is sent again. */
  #again(): void {
    this.stop.again();
    this.laser.again();
  }

  /** `why`, unless the daemon does not answer either, or shows nothing to whoever is here. */
  async streamLost(why: string): Promise<void> {
    const isDeaf = (await this.lookWhoIsHere()) && !this.fresh.peek();
    this.deafness.value = isDeaf ? (this.isShut ? 'Nobody is logged in' : why) : '';
  }

  async enter(token: string): Promise<void> {
    await this.#become('enter', () => this.#daemon.enter(token));
  }

  /** A STOP or an Off is still to be sent, which the page would forget if it were loaded anew. */
  get isOwing(): boolean {
    return this.stop.isOwed || this.laser.isOwed;
  }

  /** To load the page anew would forget a stop that somebody else may have to send, and lose STOP on a dead network. */
  async leave(): Promise<void> {
    if ((await this.#become('leave', () => this.#daemon.leave())) && !this.isOwing) location.reload();
  }

  /** The answer says who is here from now on, whatever was asked before it came. */
  async #become(what: string, request: () => Promise<Outcome<Session>>): Promise<boolean> {
    const isDone = await this.entering.run(what, async () => {
      const outcome = await request();
      if ('body' in outcome) this.#know(outcome.body, ++this.#asked);
      return outcome;
    });
    if (!isDone) await this.lookWhoIsHere();
    return isDone;
  }

  /** Asks for what happened while nobody listened. */
  streamOpened(): void {
    this.#isOpened = true;
    this.telemetry.streamOpened();
    void this.log.load();
    void this.runs.look();
  }

  setStatus(status: Status): void {
    const before = this.status.peek();
    if (this.#isOpened) void this.tuning.look(status);
    // Who may do what has changed, or was not answered yet.
    if (this.#isOpened || this.session.peek()?.access !== status.access.state) void this.lookWhoIsHere();
    this.#isOpened = false;
    batch(() => {
      this.status.value = status;
      this.laser.heard(status);
      this.stop.isConfirmed.value = false;
      for (const gains of Object.values(this.gains)) gains.follow(status[gains.unit.name].gains);
    });
    if (before !== undefined) this.telemetry.mark(before, status);
  }

  takeTelemetry(sample: Sample): void {
    this.telemetry.take(sample);
    this.laser.heard();
    this.#again();
  }

  takeStep({ unit, loop }: Step): void {
    if (keyOf({ unit, loop }) !== keyOf(this.choice.peek())) return;
    if (this.tuning.running === undefined && this.waveOf(unit) !== undefined) this.runs.goOn();
    void this.runs.look();
  }

  /** The wave that moves a unit; none while the robot is stopped, whatever is chosen. */
  waveOf(unit: UnitName): Excitation | undefined {
    const wave = this.status.value?.[unit].excitation;
    return wave && wave.amplitude !== 0 && !this.stop.stopped ? wave : undefined;
  }

  /** Gains that run on a unit and are not saved, whoever tries them; undefined while a tuning does. */
  trialOf(unit: UnitName): TrialStatus | undefined {
    return this.tuning.running?.unit === unit ? undefined : this.status.value?.[unit].gains.trial;
  }

  async resume(): Promise<void> {
    if (await this.resuming.run('resume', () => this.#daemon.resume())) this.stop.forget();
  }

  switchMode(unit: UnitName, mode: Mode): Promise<boolean> {
    return this.modes[unit].run(mode, () => this.#daemon.switchMode(unit, mode));
  }

  excite({ unit, loop }: LoopChoice, amplitude: number | null, periodS: number | null): void {
    void this.exciting[unit].run('excite', () => this.#daemon.excite(unit, { loop, amplitude, periodS }));
  }

  endExcitation(unit: UnitName): void {
    const wave = this.status.value?.[unit].excitation;
    if (wave) void this.exciting[unit].run('end', () => this.#daemon.excite(unit, { ...wave, amplitude: 0 }));
  }
}
