import { perUnit, UNIT_LIST, type UnitName } from '../../src/core/units.js';
import type { LogFile } from '../../src/events/verify-log.js';
import { AccessModel, isAccessRefusal } from './access-model.js';
import { isDrive } from './acts.js';
import { ANSWER_MS, type Answer, type Asked, isPost, isTaken } from './asked.js';
import { promise } from './broken-promise.js';
import { DriveModel } from './drive-model.js';
import type { WalkSettings } from './history.js';
import { IdModel } from './id-model.js';
import { ROUNDING_MS } from './lease-model.js';
import { LightModel } from './light-model.js';
import { LogModel, type LogShown } from './log-model.js';
import { MatchModel, type MatchShown } from './match-model.js';
import type { Request, TokenList } from './request.js';
import { StopModel } from './stop-model.js';
import type { Frame } from './timed-bus.js';
import type { Truth } from './truth.js';
import { TuneModel } from './tune-model.js';
import { UnitModel, type UnitShown } from './unit-model.js';

/** After a start the daemon serves within this time, even if the disk fails. */
const START_MS = 7000;
/** A fault explains refusals until this long after its end. */
const CALM_AFTER_MS = 2000;
/** Codes of refusals that many simultaneous callers may get without any fault. */
const BUSY = ['unit-busy', 'bus-busy'];

/** What the API shows of a settled robot: all faults have ended, and every request is answered. */
export interface Shown {
  readonly stopped: boolean;
  readonly access: unknown;
  readonly log: LogShown;
  readonly match: MatchShown;
  readonly units: Readonly<Record<UnitName, UnitShown>>;
}

/**
 * Knows every promise that the robot has made, and to whom. The model sees requests, answers and faults, but no code
 * of the robot.
 */
export class Model {
  readonly stop = new StopModel();
  readonly access = new AccessModel();
  readonly log = new LogModel();
  readonly tune = new TuneModel();
  readonly drives = perUnit(({ name }) => new DriveModel(name));
  readonly #ids = new IdModel();
  readonly #outstanding = new Set<Asked>();
  /** The outstanding requests that may have an effect, because their callers may have the right. */
  readonly #effective = new Set<Asked>();
  #events = 0;
  /** When a fault last began or ended. */
  #troubleMs = 0;
  /** True until every fault has ended. */
  #isTroubled = false;
  #daemonKnows = false;
  #ending = false;
  #hungUpMs = Number.NEGATIVE_INFINITY;
  #answeredMs = Number.NEGATIVE_INFINITY;
  #startedMs = 0;
  /** At this time the daemon's timers may not have run yet. */
  #lateMs = Number.NEGATIVE_INFINITY;
  /** When the event loop began to be late. */
  #lateSinceMs = Number.NEGATIVE_INFINITY;
  /** True if the model already counts the robot as stopped because the referee is silent. */
  #lost = false;
  /** True if the robot may have stopped without a caller since it last settled. */
  #mayHaveStopped = false;
  /** True if the disk may have lost data that was not synced, without any daemon noticing. */
  #mayForget = false;

  readonly light: LightModel;
  readonly match: MatchModel;
  readonly units: Readonly<Record<UnitName, UnitModel>>;

  constructor(settings: WalkSettings) {
    this.light = new LightModel(settings, this.#effective);
    this.match = new MatchModel(settings, this.#effective);
    this.units = perUnit(unit => new UnitModel(unit, settings.onControllerReset === 'restore'));
  }

  get outstanding(): ReadonlySet<Asked> {
    return this.#outstanding;
  }

  trouble(nowMs: number, standing = true): void {
    this.#troubleMs = nowMs;
    if (!standing) return;
    this.#isTroubled = true;
    const at = this.#next();
    for (const { name } of UNIT_LIST) {
      this.units[name].mayGoOffline(at);
      this.drives[name].mayEnd();
    }
  }

  /**
   * The daemon's event loop is late by `lateMs`, so frames in flight may fail. `frameIsLateMs`: how much later the frame
   * arrives that was on the bus.
   */
  late(nowMs: number, lateMs: number, frameIsLateMs: number): void {
    this.trouble(nowMs, false);
    for (const { name } of UNIT_LIST) this.drives[name].frameIsLate(frameIsLateMs);
    const sinceMs = nowMs - lateMs;
    // Between two late turns without a pause no timer has run, so the second one is late since the first.
    if (sinceMs - this.#lateMs > ROUNDING_MS) this.#lateSinceMs = sinceMs;
    this.#lateMs = nowMs;
  }

  calm(nowMs: number): void {
    this.#isTroubled = false;
    for (const { name } of UNIT_LIST) this.drives[name].mayEnd();
    this.#troubleMs = nowMs;
  }

  sent(request: Request, nowMs: number): Asked {
    const identities = this.access.identitiesOf(request);
    const earliestMs = nowMs === this.#lateMs ? this.#lateSinceMs : nowMs;
    const asked: Asked = { ...request, sent: this.#next(), sentMs: nowMs, earliestMs, identities };
    this.#outstanding.add(asked);
    for (const { name } of UNIT_LIST) {
      this.units[name].sent(asked);
      this.drives[name].sent(asked);
    }
    if (!this.access.surelyRefuses(request)) {
      this.#effective.add(asked);
      this.match.sent(asked);
      if (this.match.forbids(asked, nowMs) === undefined) this.stop.sent(asked);
    }
    return asked;
  }

  answered(asked: Asked, answer: Answer, truth: Truth, nowMs: number): void {
    if (!this.#outstanding.has(asked)) return;
    asked.answer = { ...answer, at: this.#next() };
    asked.identities = [...asked.identities, ...this.access.identitiesOf(asked)];
    // Comes first, because the request was in flight until now.
    this.#byItself(nowMs);
    this.#outstanding.delete(asked);
    this.#effective.delete(asked);
    this.#judgeAnswer(asked, asked.answer, nowMs);
    this.#matchAnswered(asked, truth, nowMs);
    this.light.answered(asked, truth.lit, nowMs);
    this.tune.answered(asked, nowMs);
    this.#ids.answered(asked);
    this.stop.answered(asked, truth, nowMs);
    this.log.answered(asked);
    for (const { name } of UNIT_LIST) {
      this.units[name].answered(asked, truth.units[name]);
      this.drives[name].answered(asked);
    }
    // True if no other request can have changed the gains just now.
    const isAlone = this.#outstanding.size === 0 && nowMs >= this.#hungUpMs + ANSWER_MS;
    if (isAlone)
      for (const { name } of UNIT_LIST) this.units[name].broughtBack(asked, truth.units[name], nowMs);
    this.#answeredMs = nowMs;
  }

  hungUp(asked: Asked, nowMs: number): void {
    if (!this.#outstanding.delete(asked)) return;
    const mayAct = this.#effective.delete(asked);
    const at = this.#next();
    this.#hungUpMs = nowMs;
    this.light.abandoned(asked, at);
    this.tune.abandoned(asked);
    this.#ids.mayRenew(asked);
    if (mayAct) this.match.abandoned(asked, nowMs, at);
    if (/match/.test(asked.path)) this.#mayStop();
    this.stop.abandoned(asked, at);
    for (const { name } of UNIT_LIST) this.units[name].abandoned(asked, this.#outstanding, at);
  }

  tokens(list: TokenList, nowMs: number): void {
    for (const { name } of UNIT_LIST) this.drives[name].mayEnd();
    // The first token closes an open robot and stops it.
    if (this.access.mayBeOpen && list.length > 0) this.#mayStop();
    this.access.written(list, nowMs);
    this.match.lease.tokensChanged();
  }

  /** The daemon may fail to read its files at a start, or may read them too late. */
  unread(): void {
    this.match.unread(this.#next());
    this.log.unread();
    this.#mayStop();
  }

  started(nowMs: number): void {
    this.#startedMs = nowMs;
    this.#daemonKnows = true;
    this.access.started();
    const stops = this.match.startStops(nowMs);
    if (stops === 'yes') this.stop.fell(this.#next());
    else if (stops === 'maybe') this.#mayStop();
  }

  /** From now on the daemon is ending, and may cut off waiting callers. */
  ends(): void {
    this.#ending = true;
    this.light.ends();
  }

  /** The disk shows data that a failed sync never wrote, and that a power cut will remove. No daemon can notice that. */
  forgets(): void {
    this.#mayForget = true;
  }

  ended(truth: Truth, isCut: boolean, nowMs: number): void {
    this.#byItself(nowMs);
    this.#ending = false;
    const at = this.#next();
    const outstanding = [...this.#outstanding];
    this.light.ended(at);
    this.tune.ended();
    this.match.ended(isCut, nowMs, at);
    this.stop.ended(outstanding, truth, { isCut, inTrouble: this.#inTrouble(nowMs) }, at);
    this.log.ended();
    for (const { name } of UNIT_LIST) {
      this.units[name].ended(outstanding, at);
      this.drives[name].mayEnd();
    }
    this.#outstanding.clear();
    this.#effective.clear();
    this.#daemonKnows = false;
  }

  reset(unit: UnitName, nowMs: number): void {
    const at = this.#next();
    this.drives[unit].mayEnd();
    this.stop.reset(unit, at);
    this.tune.reset(unit, nowMs);
    this.units[unit].reset(at, this.#daemonKnows && this.stop.stopped.can(false));
  }

  interlock(isClosed: boolean): void {
    this.light.interlock(isClosed, this.#next());
  }

  /** Frames no longer reach the controller, or reach it again. */
  plugged(unit: UnitName, isPlugged: boolean, nowMs: number): void {
    if (isPlugged) this.units[unit].trials.came(nowMs);
    else this.units[unit].trials.left(nowMs, this.#next());
  }

  wrote(frame: Frame, nowMs: number): void {
    this.stop.wrote(frame, nowMs);
  }

  /**
   * Called after each event that may have changed something. `serves` is true if a daemon serves, or if none is
   * expected to.
   */
  watch(truth: Truth, serves: boolean, nowMs: number): void {
    promise(
      serves || this.#ending || nowMs - this.#startedMs <= START_MS,
      'serves after a start',
      () => `nobody is served ${START_MS} ms after the start`,
    );
    this.#byItself(nowMs);
    this.light.watch(truth.lit, nowMs, nowMs === this.#lateMs);
    this.stop.watch(truth);
    const at = this.#next();
    for (const { name } of UNIT_LIST) {
      this.units[name].watch(truth.units[name], at, nowMs);
      this.drives[name].watch(truth.units[name], this.#isTroubled, nowMs);
    }
    if (this.#ending) return;
    for (const asked of this.#outstanding) {
      const waitedMs = nowMs - asked.sentMs;
      promise(waitedMs <= ANSWER_MS, 'answered in time', () => `${asked.path} waits for ${waitedMs} ms`);
    }
  }

  judgeSettled(truth: Truth, shown: Shown, logged: readonly LogFile[], nowMs: number): void {
    this.access.judgeSettled(shown.access);
    this.log.judgeSettled(logged, shown.log, this.#mayForget);
    this.match.judgeSettled(shown.match, shown.stopped, nowMs);
    this.stop.judgeSettled(truth, shown.stopped, this.#mayHaveStopped);
    this.light.judgeSettled(truth.lit, shown.stopped, this.#mayHaveStopped, nowMs);
    this.tune.judgeSettled(shown.units, { lit: truth.lit, stopped: shown.stopped }, nowMs);
    for (const { name } of UNIT_LIST) {
      this.match.judgeSettledUnit(shown.match, shown.stopped, shown.units[name]);
      this.units[name].judgeSettled(truth.units[name], shown.units[name], this.#mayForget, nowMs);
    }
  }

  /** Called after `judgeSettled` has found no broken promise. */
  adopt({ lit, units }: Truth, shown: Shown, nowMs: number): void {
    this.access.adopt(nowMs);
    const at = this.#next();
    this.match.adopt(shown.match, nowMs, at);
    this.light.adopt(lit);
    this.log.adopt(shown.log);
    this.stop.adopt(shown.stopped);
    this.#mayHaveStopped = false;
    for (const { name } of UNIT_LIST) this.units[name].adopt(units[name], shown.units[name], at);
  }

  #next(): number {
    this.#events += 1;
    return this.#events;
  }

  /** Applies stops that the match causes without a caller. */
  #byItself(nowMs: number): void {
    const mayDebug = UNIT_LIST.some(({ name }) => this.units[name].mayBeIn('debug'));
    if (this.match.mayStopByItself(nowMs, mayDebug)) this.#mayStop();
    if (nowMs === this.#lateMs) return;
    const wasLost = this.#lost;
    this.#lost = this.match.surelyLost(nowMs);
    if (this.#lost && !wasLost) this.#stops();
  }

  #mayStop(): void {
    for (const { name } of UNIT_LIST) this.drives[name].mayEnd();
    this.#mayHaveStopped = true;
  }

  #stops(from?: number): void {
    for (const { name } of UNIT_LIST) this.drives[name].mayEnd();
    const at = this.#next();
    this.stop.fell(at);
    this.light.forbidden(from ?? at, at);
  }

  #inTrouble(atMs: number): boolean {
    return this.#isTroubled || atMs < this.#troubleMs + CALM_AFTER_MS;
  }

  #matchAnswered(asked: Asked, truth: Truth, nowMs: number): void {
    const effect = this.match.answered(asked, nowMs);
    if (effect === 'none') return;
    this.#mayStop();
    // While this request waited for the disk, a later request may have resumed the robot.
    if (effect === 'may stop' || this.stop.resumedSince(asked.sent)) return;
    this.#stops(asked.sent);
    if (effect === 'stops, confirmed') this.stop.confirmed(truth, nowMs);
  }

  #judgeAnswer(asked: Asked, answer: Answer, nowMs: number): void {
    const { status, body } = answer;
    const { path } = asked;
    this.access.judge(asked, answer);
    this.match.judgeRefusal(asked, nowMs);
    const why = this.match.forbids(asked, nowMs);
    promise(
      why === undefined || !isTaken(answer),
      'refused in the match',
      () => `${path} answered 200: ${why}`,
    );
    const said = () => `${path} answered ${status} ${JSON.stringify(body)}`;
    promise(isTaken(answer) || status === 503 || (status >= 400 && status < 500), 'answers', said);
    const moves = isDrive(asked) && !isPost(asked, '/api/resume');
    const forbidden = moves && this.stop.surelyStoppedSince(asked.sent);
    promise(!(forbidden && isTaken(answer)), 'refused while stopped', said);
    const calm = !this.#inTrouble(asked.sentMs);
    // Other requests in flight at the same time may have caused the refusal.
    const hadOthers =
      this.#outstanding.size > 0 || this.#answeredMs >= asked.sentMs || nowMs < this.#hungUpMs + ANSWER_MS;
    const busy = BUSY.includes(String(body?.code)) && hadOthers;
    promise(!(calm && status === 503 && !busy && !isAccessRefusal(answer)), 'refused without a fault', said);
  }
}
