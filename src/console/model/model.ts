import { batch, computed, effect, type ReadonlySignal, signal } from '@preact/signals';
import type { Status, TrialStatus } from '../../core/status.js';
import type { Step } from '../../core/step.js';
import type { Tune } from '../../core/tune.js';
import { type Excitation, type Mode, perUnit, type UnitName } from '../../core/units.js';
import type { Session } from '../access/session.js';
import type { Daemon } from '../daemon/daemon.js';
import { EventLog } from '../log/event-log.js';
import { Act } from '../parts/act.js';
import { keepEdits } from './kept-edits.js';
import { keyOf, type LoopChoice } from './loop-choice.js';
import { Runs } from './runs.js';
import { Telemetry } from './telemetry.js';
import { Tuning } from './tuning.js';
import { UnitGains } from './unit-gains.js';

/** For so long after the press a stop that was refused is sent again without another press. */
const STOP_WANTED_MS = 60_000;

/** What this page knows of the robot, and what is asked of it here. */
export class Model {
  readonly status = signal<Status | undefined>(undefined);
  /** What `status` says is known to hold now. */
  readonly fresh = signal(false);
  /** Not listening, because other windows do. */
  readonly resting = signal(false);
  /** In words, why nothing is heard of a daemon that answers; empty where that is not known. */
  readonly deafness = signal('');
  readonly choice = signal<LoopChoice>({ unit: 'gimbal', loop: 'angle_yaw' });
  readonly gains: Readonly<Record<UnitName, UnitGains>>;
  readonly telemetry = new Telemetry();
  readonly log: EventLog;
  readonly tuning: Tuning;
  readonly runs: Runs;
  /** Undefined while it is not known, or the daemon asks nobody. */
  readonly session = signal<Session | undefined>(undefined);
  /** The chosen loop's last tuning, until somebody puts it away. */
  readonly tuned: ReadonlySignal<Tune | undefined> = computed(() => {
    const { unit, loop } = this.choice.value;
    const tune = this.tuning.tunes[unit].value;
    return tune?.loop === loop && tune.id !== this.tuning.dismissed.value ? tune : undefined;
  });
  readonly entering = new Act('Login');
  readonly stopping = new Act('Stop', true);
  readonly resuming = new Act('Resume');
  /** A stop that got no answer yet is asked again. */
  readonly asksAgain = signal(false);
  /** When somebody pressed STOP last, in milliseconds since 1970. */
  readonly stopPressedMs = signal(0);
  /** The press is so long ago that nobody may want it any more. */
  readonly stopIsOld = signal(false);
  readonly laser = new Act('Laser');
  readonly modes = perUnit(({ title }) => new Act(`${title} mode`));
  readonly exciting = perUnit(({ title }) => new Act(`${title} excitation`));
  readonly #daemon: Daemon;
  /** No status has come since the stream was opened. */
  #isOpened = false;
  /** How often it was asked who is here, and which of these answers was the newest. */
  #asked = 0;
  #answered = 0;
  /** The rights of whoever asked for a stop last. */
  #stoppedWith: string | undefined;

  constructor(daemon: Daemon) {
    this.#daemon = daemon;
    this.log = new EventLog(daemon);
    this.gains = perUnit(unit => new UnitGains(unit, daemon));
    this.tuning = new Tuning({
      daemon,
      prepare: async choice => {
        if (keyOf(choice) !== keyOf(this.choice.peek())) this.choice.value = choice;
        const isReady = this.status.peek()?.[choice.unit].mode === 'debug';
        return isReady || this.switchMode(choice.unit, 'debug');
      },
      save: ({ unit, loop }, gains) => this.gains[unit].saveLoop(loop, gains),
    });
    this.runs = new Runs(daemon, this.choice, this.tuned);
    keepEdits(this.gains);
    effect(() => {
      if (this.fresh.value) this.deafness.value = '';
      else this.telemetry.breakOff();
    });
    effect(() => {
      if (this.isStopped) this.stopping.clear();
    });
  }

  /** Whether status is fresh and says that the robot is stopped: what a stop refuses need not be tried. */
  get isStopped(): boolean {
    return this.fresh.value && this.status.value?.stopped === true;
  }

  /** Whether whoever is here may, and the match lets it happen; what is not known is left to the daemon. */
  may(act: 'drive' | 'laser' | 'tune' | 'resume'): boolean {
    const match = this.status.value?.match;
    if (!this.hasRight(act === 'tune' ? act : 'drive')) return false;
    return match === undefined || (match.allows[act] && match.lock === null);
  }

  /** All that is asked of whoever ends a trial or a tuning. */
  hasRight(right: 'drive' | 'tune'): boolean {
    return this.session.value?.rights.includes(right) ?? true;
  }

  /** Nothing of the robot is shown here without a token. */
  get isShut(): boolean {
    const session = this.session.value;
    return session !== undefined && session.access !== 'open' && !session.rights.includes('read');
  }

  async lookWhoIsHere(): Promise<boolean> {
    this.#asked += 1;
    const turn = this.#asked;
    const outcome = await this.#daemon.session();
    if ('refusal' in outcome) return false;
    if (turn < this.#answered) return true;
    this.#answered = turn;
    this.session.value = outcome.body;
    this.#stopAgain();
    return true;
  }

  /** `why`, unless the daemon does not answer either, or shows nothing to whoever is here. */
  async streamLost(why: string): Promise<void> {
    const isDeaf = (await this.lookWhoIsHere()) && !this.fresh.peek();
    this.deafness.value = isDeaf ? (this.isShut ? 'Nobody is logged in' : why) : '';
  }

  async enter(token: string): Promise<void> {
    await this.entering.run('enter', () => this.#daemon.enter(token));
    await this.lookWhoIsHere();
  }

  /** To load the page anew would forget a stop that somebody else may have to send. */
  async leave(): Promise<void> {
    await this.entering.run('leave', () => this.#daemon.leave());
    if (this.hasStopToSend) await this.lookWhoIsHere();
    else location.reload();
  }

  /** A stop is under way, or was not obeyed and is not too old. */
  get hasStopToSend(): boolean {
    if (this.isStopForbidden && this.stopIsOld.value) return false;
    return (this.stopping.pending.value ?? this.stopping.refusal.value) !== undefined;
  }

  /** A stop was refused to whoever is here, and nothing was done. */
  get isStopForbidden(): boolean {
    const code = this.stopping.refusal.value?.code;
    return code === 'token-required' || code === 'token-unknown' || code === 'not-allowed';
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
    const isOther = this.session.peek()?.access !== status.access.state;
    if (this.#isOpened || isOther) void this.lookWhoIsHere();
    this.#isOpened = false;
    batch(() => {
      this.status.value = status;
      for (const gains of Object.values(this.gains)) gains.follow(status[gains.unit.name].gains);
    });
    if (!status.stopped) this.#stopAgain();
    if (before !== undefined) this.telemetry.mark(before, status);
  }

  /**
   * A stop that reached nobody is asked again once the daemon answers anything, however old it is. It may have arrived, and
   * only its answers were lost; but then it costs one Resume too many, where a stop that was forgotten may cost a hand. One
   * that was refused for want of a right is asked again for whoever has other rights, unless it is old: the robot may be
   * stopped and resumed since.
   */
  #stopAgain(): void {
    this.#lookAtStopAge();
    const isForOthers = this.isStopForbidden && !this.stopIsOld.peek() && this.#rights !== this.#stoppedWith;
    if (isForOthers || this.stopping.refusal.peek()?.code === 'unreachable') void this.#sendStop();
  }

  /** A press of the future is old too: somebody set the clock. */
  #lookAtStopAge(): void {
    this.stopIsOld.value = Math.abs(Date.now() - this.stopPressedMs.peek()) > STOP_WANTED_MS;
  }

  /** Undefined as long as they are not known. */
  get #rights(): string | undefined {
    return this.session.peek()?.rights.join();
  }

  takeStep({ unit, loop }: Step): void {
    if (keyOf({ unit, loop }) !== keyOf(this.choice.peek())) return;
    if (this.tuning.running === undefined && this.waveOf(unit) !== undefined) this.runs.goOn();
    void this.runs.look();
  }

  /** The wave that moves a unit; none while the robot is stopped, whatever is chosen. */
  waveOf(unit: UnitName): Excitation | undefined {
    const wave = this.status.value?.[unit].excitation;
    return wave && wave.amplitude !== 0 && !this.isStopped ? wave : undefined;
  }

  /** Gains that run on a unit and are not saved, whoever tries them; undefined while a tuning does. */
  trialOf(unit: UnitName): TrialStatus | undefined {
    return this.tuning.running?.unit === unit ? undefined : this.status.value?.[unit].gains.trial;
  }

  /** By a press, from which its age counts. */
  stop(): void {
    this.stopPressedMs.value = Date.now();
    this.#lookAtStopAge();
    setTimeout(() => this.#lookAtStopAge(), STOP_WANTED_MS + 1000);
    void this.#sendStop();
  }

  async #sendStop(): Promise<void> {
    this.#stoppedWith = this.#rights;
    if (this.stopping.refusal.peek() !== undefined) this.asksAgain.value = true;
    await this.stopping.run('stop', () =>
      this.#daemon.stop(() => {
        this.asksAgain.value = true;
      }),
    );
    if (this.stopping.pending.peek() !== undefined) return;
    this.asksAgain.value = false;
    if (this.isStopped) this.stopping.clear();
  }

  async resume(): Promise<void> {
    if (await this.resuming.run('resume', () => this.#daemon.resume())) this.stopping.clear();
  }

  light(): void {
    void this.laser.run('on', () => this.#daemon.light());
  }

  darken(): void {
    void this.laser.run('off', () => this.#daemon.darken(() => undefined));
  }

  switchMode(unit: UnitName, mode: Mode): Promise<boolean> {
    return this.modes[unit].run(mode, () => this.#daemon.switchMode(unit, mode));
  }

  excite({ unit, loop }: LoopChoice, amplitude: number | null, periodS: number | null): void {
    const wave = { loop, amplitude, periodS };
    void this.exciting[unit].run('excite', () => this.#daemon.excite(unit, wave));
  }

  endExcitation(unit: UnitName): void {
    const wave = this.status.value?.[unit].excitation;
    if (wave === null || wave === undefined) return;
    void this.exciting[unit].run('end', () => this.#daemon.excite(unit, { ...wave, amplitude: 0 }));
  }
}
