import { batch, computed, effect, signal } from '@preact/signals';
import { type Clock, pause } from '../../core/clock.js';
import { type Excitation, type Mode, perUnit, UNIT_LIST, type UnitName } from '../../core/units.js';
import type { Status, TrialStatus } from '../../schemas/status.js';
import type { Step } from '../../schemas/step.js';
import type { Telemetry } from '../../schemas/telemetry.js';
import { DaemonClient } from '../daemon/daemon.js';
import { EventStream } from '../daemon/event-stream.js';
import type { PageStorage, Surroundings } from '../daemon/surroundings.js';
import { Access } from './access.js';
import { Action } from './action.js';
import { Autotune } from './autotune.js';
import { Driving } from './driving.js';
import type { AllGains } from './edits.js';
import { GainEdits } from './gain-edits.js';
import { Go } from './go.js';
import { Laser } from './laser.js';
import { LogView } from './log-view.js';
import { keyOf, type LoopChoice } from './loop-choice.js';
import { Referee } from './referee.js';
import { changesByRestart, daemonRestartText } from './restart.js';
import { RobotTime } from './robot-time.js';
import { Runs } from './runs.js';
import { Stop } from './stop.js';
import { TelemetryView } from './telemetry.js';
import type { Whole } from './whole.js';

/** The pause before the log is asked for again. */
const LOG_RETRY_MS = 1000;
/** A status may come so much later than it was true, and another one at once. */
const LATE_MS = 500;

/** Operations that a match may forbid. */
export type Operation = 'drive' | 'laser' | 'tune' | 'resume';

/** The browser in which the page runs. The parts of the model are built with it. */
class InBrowser {
  readonly surroundings: Surroundings;
  readonly clock: Clock;
  readonly storage: PageStorage;

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings;
    this.clock = surroundings.clock;
    this.storage = surroundings.storage;
  }
}

/** The page's knowledge of the robot, and its requests. Components read the model and call it. */
export class Model extends InBrowser implements Whole {
  readonly openedAt = this.clock.wallTime();
  readonly daemon = new DaemonClient(this.surroundings, {
    onStuck: () => this.stream.room.askForWay(),
    onIdentityRefused: () => void this.access.refresh(),
    rights: () => this.access.session.peek()?.rights.join(),
  });
  readonly stream = new EventStream(this.surroundings, {
    // If the caller may read, the daemon refuses a stream only when all streams are taken.
    onLost: isRefused => void this.#lost(isRefused ? 'Too many pages are open' : 'The stream is silent'),
    onOpen: () => this.#opened(),
    onStatus: status => this.#takeStatus(status),
    onTelemetry: sample => this.#takeTelemetry(sample),
    onStep: step => this.#takeStep(step),
    onTune: tune => this.autotune.take(tune),
    onLog: event => {
      this.log.take(event);
      // The steps of a trial now belong to the saved revision, so the list is fetched again.
      if (event.what === 'save') void this.runs.look();
    },
  });
  readonly status = signal<Status | undefined>(undefined);
  /** True while `status` is known to be current. */
  readonly fresh = this.stream.fresh;
  readonly robotTime = new RobotTime(this.clock);
  /** Why the daemon answers requests but sends no data. Empty if that is unknown. */
  readonly deafness = signal('');
  readonly choice = signal<LoopChoice>({ unit: 'gimbal', loop: 'angle_yaw' });
  readonly access = new Access(this);
  readonly laser = new Laser(this);
  readonly stop = new Stop(this);
  readonly go = new Go(this);
  readonly telemetry = new TelemetryView(this.clock);
  readonly log = new LogView(this);
  readonly gains = perUnit(unit => new GainEdits(unit, this));
  readonly resuming = new Action(this.clock, 'Resume');
  readonly modes = perUnit(({ title }) => new Action(this.clock, `${title} mode`));
  readonly exciting = perUnit(({ title }) => new Action(this.clock, `${title} test steps`));
  readonly autotune = new Autotune(this);
  readonly referee = new Referee(this);
  readonly driving = new Driving(this);
  /** The latest tuning of the chosen unit, unless the person dismissed it. */
  readonly tuned = computed(() => {
    const tune = this.autotune.tunes[this.choice.value.unit].value;
    return tune?.id === this.autotune.dismissed.value ? undefined : tune;
  });
  /** The result of the tuning in `tuned` for the chosen loop. */
  readonly tunedLoop = computed(() => {
    const result = this.tuned.value?.results.find(({ loop }) => loop === this.choice.value.loop);
    return result && { ...result, id: this.tuned.value?.id };
  });
  readonly runs = new Runs(this, this.tunedLoop);
  /** True if no status has arrived since the stream was opened. */
  #isOpened = false;
  /** The first stream after the last answer of the log: the last status before it, its own first one, and when that came. */
  #unanswered:
    | { readonly before: Status | undefined; readonly status: Status; readonly atMs: number }
    | undefined;
  /** The number of streams that were opened. */
  #streams = 0;

  constructor(surroundings: Surroundings) {
    super(surroundings);
    effect(() => {
      if (this.fresh.value) this.deafness.value = '';
      else this.telemetry.breakOff();
    });
  }

  /** True if the robot is stopped, or if a STOP is unanswered. */
  get isStopping(): boolean {
    return this.stop.stopped === true || this.stop.isUnanswered;
  }

  /** True if a press may move or light something now. Without contact a press would act later, when contact returns. */
  get mayMove(): boolean {
    return this.fresh.value && !this.isStopping;
  }

  /** Without the right to read the page gets no status, but the session has the same member. */
  get isSimulated(): boolean {
    return (this.status.value ?? this.access.session.value)?.simulated === true;
  }

  hasRightTo(operation: Operation): boolean {
    return this.access.hasRight(operation === 'tune' ? 'tune' : 'drive');
  }

  /** Whether rights and match allow the operation. If that is unknown, this returns true and the daemon decides. */
  may(operation: Operation): boolean {
    if (!this.hasRightTo(operation)) return false;
    const match = this.status.value?.match;
    return match === undefined || (match.allows[operation] && match.lock === null);
  }

  get isHidden(): boolean {
    return this.stream.isHidden;
  }

  /** True while a STOP or an Off is pending. A reload would lose it. */
  get isOwing(): boolean {
    return this.stop.isOwed || this.laser.isOwed;
  }

  choose(choice: LoopChoice): void {
    if (keyOf(choice) !== keyOf(this.choice.peek())) this.choice.value = choice;
  }

  /** The acts on one unit. */
  actionsOf(unit: UnitName): Action[] {
    const { saving, trial } = this.gains[unit];
    return [this.modes[unit], this.exciting[unit], saving, trial.action];
  }

  /** Turns the differences between these sets and the saved gains into edits. Returns a sentence about them. */
  editAll(sets: AllGains, from: string): string {
    const count = UNIT_LIST.reduce((sum, { name }) => sum + this.gains[name].editSet(sets[name]), 0);
    return count === 0
      ? `The stored gains are exactly those of ${from}.`
      : `${count} differences from ${from} are edits now. Keep saves them.`;
  }

  pressStop(): void {
    void this.laser.darkened(this.daemon.stop());
  }

  /** Does not reload while a STOP is pending, because another person may have to log in to send it. */
  async leave(): Promise<void> {
    if ((await this.access.leave()) && !this.isOwing) this.surroundings.reload();
  }

  /** The running excitation of a unit; undefined while the robot is stopped. */
  excitationOf(unit: UnitName): Excitation | undefined {
    const excitation = this.status.value?.[unit].excitation;
    return excitation && excitation.amplitude !== 0 && !this.stop.stopped ? excitation : undefined;
  }

  /** The trial that runs on a unit, whoever began it. Undefined during a tuning. */
  trialOf(unit: UnitName): TrialStatus | undefined {
    return this.autotune.running?.unit === unit ? undefined : this.status.value?.[unit].gains.trial;
  }

  resume(since?: number): Promise<boolean> {
    return this.resuming.run(() => this.daemon.resume(since));
  }

  switchMode(unit: UnitName, mode: Mode, since?: number): Promise<boolean> {
    return this.modes[unit].run(() => this.daemon.switchMode(unit, mode, since));
  }

  excite({ unit, loop }: LoopChoice, amplitude: number | null, periodS: number | null): Promise<boolean> {
    const rule = amplitude === 0 ? 'calms' : 'moves';
    const ask = { path: `/api/${unit}/excitation`, body: { loop, amplitude, periodS }, rule } as const;
    return this.exciting[unit].run(() => this.daemon.press(ask));
  }

  async endExcitation(unit: UnitName): Promise<void> {
    const excitation = this.status.value?.[unit].excitation;
    if (excitation) await this.excite({ unit, loop: excitation.loop }, 0, excitation.periodS);
  }

  /**
   * Sets `deafness` to `why`, or to the fact that nobody is logged in. Empties it if requests fail too, or if
   * data has arrived meanwhile.
   */
  async #lost(why: string): Promise<void> {
    const isDeaf = (await this.access.refresh()) && !this.fresh.peek();
    this.deafness.value = isDeaf ? (this.access.isShut ? 'Nobody is logged in' : why) : '';
  }

  /** Fetches what happened while the stream was closed. */
  #opened(): void {
    if (this.telemetry.count === 0) {
      const asked = this.daemon.read<readonly Telemetry[]>('/api/telemetry');
      void asked.then(past => this.telemetry.takePast(past ?? []));
    }
    this.#isOpened = true;
    this.#streams += 1;
    this.telemetry.timeline.streamOpened();
    void this.runs.look();
  }

  /**
   * Shows what happened between the last status of the stream before and the first one of this stream. Asks until an answer
   * comes, or until another stream does the same.
   */
  async #catchUp(before: Status | undefined, status: Status): Promise<void> {
    // The page's clock may stop while a phone sleeps.
    const atMs = this.clock.wallTime().getTime();
    const first = this.#unanswered;
    // If the daemon has run since before the first of these streams, it restarted before that one.
    const hasRunSince = first !== undefined && 1000 * status.uptimeS + LATE_MS > atMs - first.atMs;
    const around = hasRunSince ? first : { before, status, atMs };
    this.#unanswered = around;
    const stream = this.#streams;
    const isOpen = () => stream === this.#streams && !this.isHidden;
    let loaded = await this.log.load();
    while (loaded === undefined && isOpen()) {
      await pause(this.clock, LOG_RETRY_MS);
      if (isOpen()) loaded = await this.log.load();
    }
    if (loaded === undefined) return;
    this.#unanswered = undefined;
    if (before === undefined) return;
    const { start } = loaded;
    if (start === undefined) return this.telemetry.mark(before, status);
    const changes = changesByRestart(around.before ?? before, around.status);
    const restart = { ...start, detail: { changes: changes.join(', ') } };
    this.log.storeRestarts([restart]);
    this.telemetry.note(`The daemon ${daemonRestartText(restart, this.clock.wallTime())}`);
  }

  #takeStatus(status: Status): void {
    const before = this.status.peek();
    const isFirst = this.#isOpened;
    if (isFirst) {
      void this.autotune.look(status);
      void this.#catchUp(before, status);
    }
    const isChanged = this.access.session.peek()?.access !== status.access.state;
    if (isFirst || isChanged) void this.access.refresh();
    this.#isOpened = false;
    batch(() => {
      this.status.value = status;
      this.laser.heard(status);
      this.stop.heardStatus();
      for (const gains of Object.values(this.gains)) {
        gains.follow(status[gains.unit.name].gains);
        // A stop ends all trials. The page already reports the stop.
        if (status.stopped) gains.trial.drop();
      }
    });
    this.#clearOutdated(status, before);
    if (before === undefined) return;
    if (!isFirst) this.telemetry.mark(before, status);
    this.driving.heardStatus(before, status);
    this.referee.heard(before, status, this.telemetry.latest?.t ?? 0, isFirst);
  }

  /** Clears refusals whose cause has ended. */
  #clearOutdated(status: Status, before: Status | undefined): void {
    const obeysAgain = before?.laser.light === 'fault' && status.laser.light !== 'fault';
    const over = ['unreachable', status.stopped ? 'trial-ended' : 'stopped', obeysAgain ? 'pin-failed' : ''];
    const { resuming, laser, access, autotune, referee } = this;
    for (const one of [resuming, laser.action, access.action, autotune.action, referee.action])
      one.clear(over);
    for (const { name } of UNIT_LIST)
      for (const one of this.actionsOf(name))
        one.clear(status[name].online ? [...over, 'unit-offline'] : over);
  }

  #takeTelemetry(sample: Telemetry): void {
    this.telemetry.take(sample);
    this.robotTime.heard(sample.t);
    this.laser.heard();
    this.daemon.heard();
  }

  #takeStep({ unit, loop }: Step): void {
    if (keyOf({ unit, loop }) !== keyOf(this.choice.peek())) return;
    if (this.autotune.running === undefined && this.excitationOf(unit) !== undefined)
      this.runs.leaveProposal();
    void this.runs.look();
  }
}
