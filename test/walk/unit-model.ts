import { isObject } from '../../src/core/json.js';
import {
  defaultGains,
  type Excitation,
  type GainSet,
  MODES,
  type Mode,
  type Unit,
} from '../../src/core/units.js';
import { isAccessRefusal } from './access-model.js';
import { isSave, isTuneStart } from './acts.js';
import { ANSWER_MS, type Asked, bodyMember, isDelete, isPost } from './asked.js';
import { promise } from './broken-promise.js';
import { Candidates } from './candidates.js';
import { TrialModel } from './trial-model.js';
import { excitationKey, gainsKey, isGainSet, NO_EXCITATION, type UnitTruth } from './truth.js';

/** What the API shows of one unit of a settled robot. */
export interface UnitShown {
  readonly mode: unknown;
  /** True if the unit runs the saved gains. */
  readonly applied: boolean;
  readonly kept: GainSet;
  /** True if the unit runs gains on trial. */
  readonly isTried: boolean;
  /** Newest first. */
  readonly history: readonly { readonly revision: number; readonly gains: GainSet }[];
  /** A tuning is under way. */
  readonly isTuned: boolean;
}

/** The promises about one unit: its mode, its excitation and its gains. */
export class UnitModel {
  readonly #unit: Unit;
  readonly #restores: boolean;
  modes = new Candidates<Mode>('manual');
  excitations = new Candidates<string>(NO_EXCITATION);
  gains: Candidates<string>;
  /** The gains of the last save that was answered 200, and gains found in force since. */
  #sincePromise: Set<string>;
  /** Requests refused since the robot last settled. If the daemon ends, the next daemon may find any of them in force. */
  #refused: Asked[] = [];
  readonly trials: TrialModel;
  readonly #everSaved = new Set<string>();
  readonly #everPromised = new Set<string>();
  /** The gains of each revision, as the history showed them. */
  readonly #revisions = new Map<number, string>();
  /**
   * The number of saves that timed out at the disk. If such a save is written together with a newer one, its revision
   * is never used.
   */
  #unkept = 0;
  #hasTorque = false;
  /** The time of the last request that may start an excitation, and of the last loss of torque. */
  #excitedMs = Number.NEGATIVE_INFINITY;
  #lostMs = Number.NEGATIVE_INFINITY;
  /** Modes and excitations that the controller may still have if a resume has not reached it yet. */
  #unreached: readonly Mode[] = [];
  #unreachedExcitations: readonly string[] = [];

  constructor(unit: Unit, restores: boolean) {
    this.#unit = unit;
    this.trials = new TrialModel(unit.name);
    this.#restores = restores;
    const defaults = gainsKey(defaultGains(unit));
    this.#sincePromise = new Set([defaults]);
    this.#everSaved.add(defaults);
    this.gains = new Candidates(defaults);
  }

  /** True if the unit may be in this mode. A controller that a resume has not reached yet may keep its earlier mode. */
  mayBeIn(mode: Mode): boolean {
    return this.modes.can(mode) || this.#unreached.includes(mode);
  }

  sent(asked: Asked): void {
    if (this.#isExcitation(asked) || this.#isTuned(asked)) this.#excitedMs = asked.sentMs;
  }

  /** An excitation ends with the torque. No excitation begins again by itself. */
  watch({ torque, excitation }: UnitTruth, at: number, nowMs: number): void {
    if (this.#hasTorque && !torque) {
      this.#lostMs = nowMs;
      this.excitations.sure(NO_EXCITATION, at, at);
    }
    this.#hasTorque = torque;
    const isAsked = this.#excitedMs >= this.#lostMs - ANSWER_MS;
    const may = excitation === NO_EXCITATION || !torque || isAsked;
    promise(
      may,
      'excitation by itself',
      () => `${this.#unit.name} runs ${excitation} since its torque is back`,
    );
  }

  /** Because of a fault, the daemon may count the controller as offline. The excitation then ends. */
  mayGoOffline(at: number): void {
    this.excitations.maybe(NO_EXCITATION, at, Number.POSITIVE_INFINITY);
  }

  answered(asked: Asked, truth: UnitTruth): void {
    if (asked.answer === undefined) return;
    const { status, body, at } = asked.answer;
    this.trials.answered(asked);
    if (status === 202) this.#tuned(asked, at);
    else if (status !== 200) {
      if (isAccessRefusal(asked.answer)) return;
      this.#refused.push(asked);
      if (this.#isSave(asked) && body?.code === 'storage-failed') this.#unkept += 1;
      // Before the switch was refused, the controller may have left debug mode and ended the excitation.
      if (this.#modeOf(asked) !== undefined) this.excitations.maybe(NO_EXCITATION, asked.sent, at);
      return;
    }
    const mode = this.#modeOf(asked);
    if (mode !== undefined) {
      const [modes, excitations] = [this.modes.values, this.excitations.values];
      this.#switched(mode, asked.sent, at);
      // A resume is answered even if a controller cannot be reached.
      if (isPost(asked, '/api/resume') && (truth.latched || truth.mode !== 'manual')) {
        this.#unreached = [...this.#unreached, ...modes];
        this.#unreachedExcitations = [...this.#unreachedExcitations, ...excitations];
      }
    } else if (this.#isExcitation(asked))
      this.excitations.sure(excitationKey(excitationIn(body)), asked.sent, at);
    else if (this.#isSave(asked)) {
      const saved = gainsKey(gainsIn(body));
      this.#judgeSave(asked, saved);
      this.#sincePromise = new Set([saved]);
      this.#everSaved.add(saved);
      this.#everPromised.add(saved);
      this.gains.sure(saved, asked.sent, at);
    }
  }

  /** Checks that a unit runs the saved gains when a request that ended its trial or tuning is answered. */
  broughtBack(asked: Asked, truth: UnitTruth, nowMs: number): void {
    const { path } = asked;
    const isEnd = isDelete(asked, this.#path('pidconfig/trial')) || isDelete(asked, this.#path('autotune'));
    const { gains } = truth;
    if (!isEnd || asked.answer?.body?.ended !== true || gains === undefined) return;
    const runs = gainsKey(gains);
    const may = this.gains.can(runs) || this.trials.canRun(runs, nowMs);
    promise(may, 'gains run at the end of a trial', () => `${path} is answered, and ${runs} runs`);
  }

  /**
   * The caller hung up, so the outcome is unknown. If another request had the unit's turn, this request has no
   * effect.
   */
  abandoned(asked: Asked, outstanding: Iterable<Asked>, at: number): void {
    const earlier = [...outstanding].filter(other => other.sent < asked.sent);
    // An excitation of amplitude 0 joins the queue late, because the daemon first ends a tuning.
    const isInLine = (other: Asked) => this.#hasTurn(other) && bodyMember(other, 'amplitude') !== 0;
    const waits = this.#takesTurn(asked) && earlier.some(isInLine);
    // A save may share the turn of an earlier save.
    const shares = this.#isSave(asked) && earlier.some(other => this.#isSave(other));
    if (waits && !shares) return;
    this.trials.mayRun(asked);
    this.#tuned(asked, at);
    this.#maybe(asked, at);
    // The disk may still refuse this save.
    if (!this.#isSave(asked)) return;
    this.#refused.push(asked);
    this.#unkept += 1;
  }

  ended(outstanding: readonly Asked[], at: number): void {
    this.trials.over(at);
    const tries = outstanding.some(asked => isPost(asked, this.#path('pidconfig/trial')));
    if (tries || this.trials.mayGuard) this.excitations.maybe(NO_EXCITATION, at, at);
    for (const asked of [...outstanding, ...this.#refused]) this.#maybe(asked, at);
    for (const mode of this.#unreached) this.modes.maybe(mode, at, at);
    for (const excitation of this.#unreachedExcitations) this.excitations.maybe(excitation, at, at);
    // A save that was never answered 200 but was found in force may be lost in the next power cut.
    for (const gains of this.#sincePromise) this.gains.maybe(gains, at, at);
    this.#refused = [];
    this.#unreached = [];
    this.#unreachedExcitations = [];
    // The disk may lose the newest revisions if they were never answered 200. Their numbers are then used again.
    for (const [revision, gains] of [...this.#revisions].sort(([a], [b]) => b - a)) {
      if (this.#everPromised.has(gains)) break;
      this.#revisions.delete(revision);
    }
  }

  /** `restoring`: the daemon knew the controller before its reset, and is not stopped. */
  reset(at: number, restoring: boolean): void {
    if (this.#restores && restoring) this.modes.maybe('manual', at, at);
    else this.modes.sure('manual', at, at);
    this.excitations.sure(NO_EXCITATION, at, at);
    this.trials.over(at);
    this.#unreached = [];
    this.#unreachedExcitations = [];
  }

  /**
   * `mayForget`: the disk may have lost a save that was never answered 200. Its revision may then be missing from the
   * history.
   */
  judgeSettled(truth: UnitTruth, shown: UnitShown, mayForget: boolean, nowMs: number): void {
    const { name } = this.#unit;
    const { mode, excitation } = truth;
    promise(this.modes.can(mode), 'mode', () => `${name} is in ${mode}; ${this.modes.values} would be right`);
    promise(shown.mode === mode, 'mode shown', () => `${name} is in ${mode}; status shows ${shown.mode}`);
    if (mode === 'debug' && !shown.isTuned) {
      promise(
        this.excitations.can(excitation),
        'excitation',
        () => `${name} runs ${excitation}; ${this.excitations.values} would be right`,
      );
    }
    const kept = gainsKey(shown.kept);
    promise(this.gains.can(kept), 'gains', () => `${name} has ${kept}; ${this.gains.values} would be right`);
    const runs = truth.gains && gainsKey(truth.gains);
    const tried = shown.isTuned || (runs !== undefined && this.trials.canRun(runs, nowMs));
    promise(runs === kept || tried, 'gains run', () => `${name} runs ${runs}; the journal has ${kept}`);
    const isSaid = runs === kept || shown.isTried;
    promise(isSaid, 'trial shown', () => `${name} runs ${runs}, and status shows no trial`);
    this.#judgeHistory(shown, kept, mayForget);
    const said = shown.applied === (runs === kept);
    promise(said, 'applied', () => `status shows applied ${shown.applied} of the ${name}`);
  }

  /** Replaces all candidates by the state of the settled robot. */
  adopt({ mode, excitation }: UnitTruth, { kept, isTried, isTuned, history }: UnitShown, at: number): void {
    if (!isTried) this.trials.mayGuard = false;
    for (const { revision, gains } of history) this.#revisions.set(revision, gainsKey(gains));
    this.modes = new Candidates(mode);
    // The excitation of a tuning ends with the tuning.
    if (isTuned) this.excitations = new Candidates(NO_EXCITATION, at, Number.POSITIVE_INFINITY);
    else if (mode === 'debug') this.excitations = new Candidates(excitation);
    this.#sincePromise.add(gainsKey(kept));
    this.gains = new Candidates(gainsKey(kept));
    this.#refused = [];
    this.#unreached = [];
    this.#unreachedExcitations = [];
  }

  #tuned(asked: Asked, at: number): void {
    if (this.#isTuned(asked)) this.excitations.maybe(NO_EXCITATION, at, Number.POSITIVE_INFINITY);
  }

  #isTuned(asked: Asked): boolean {
    return isTuneStart(asked) && asked.path.startsWith(this.#path(''));
  }

  /**
   * A restored revision must have the gains that the history showed for it. A save must have the gains that were
   * sent.
   */
  #judgeSave(asked: Asked, saved: string): void {
    const isRestore = isPost(asked, this.#path('pidconfig/restore'));
    const expected = isRestore
      ? this.#revisions.get(Number(bodyMember(asked, 'revision')))
      : gainsKey(gainsIn(asked.body));
    const holds = expected === undefined || expected === saved;
    promise(holds, 'saved as asked', () => `${asked.path} saved ${saved}, not ${expected}`);
  }

  #judgeHistory({ history }: UnitShown, kept: string, mayForget: boolean): void {
    const { name } = this.#unit;
    const [newest] = history;
    const isNewest = newest === undefined || gainsKey(newest.gains) === kept;
    promise(isNewest, 'history', () => `the newest revision of ${name} is not the one in force`);
    let leftOut = 0;
    for (const [place, { revision, gains }] of history.entries()) {
      const key = gainsKey(gains);
      const known = this.#revisions.get(revision) ?? key;
      const after = history[place - 1]?.revision ?? revision + 1;
      leftOut += after - revision - 1;
      promise(
        after > revision && (mayForget || leftOut <= this.#unkept),
        'history',
        () => `after ${name} ${revision} comes ${after}`,
      );
      promise(known === key, 'history', () => `${name} ${revision} was ${known} and is ${key}`);
      promise(this.#everSaved.has(key), 'history', () => `nobody saved ${name} ${revision}: ${key}`);
    }
  }

  #switched(mode: Mode, sent: number, at: number): void {
    if (!this.modes.can(mode) && this.#unreached.length === 0) this.trials.over(sent);
    const stays = mode === 'debug' && this.modes.can('debug');
    if (!stays) this.excitations.sure(NO_EXCITATION, sent, at);
    else if (!this.modes.must('debug')) this.excitations.maybe(NO_EXCITATION, sent, at);
    this.modes.sure(mode, sent, at);
  }

  #maybe(asked: Asked, at: number): void {
    const { sent } = asked;
    const mode = this.#modeOf(asked);
    if (mode !== undefined) {
      this.modes.maybe(mode, sent, at);
      this.excitations.maybe(NO_EXCITATION, sent, at);
    } else if (this.#isExcitation(asked))
      this.excitations.maybe(excitationKey(excitationIn(asked.body)), sent, at);
    else if (this.#isSave(asked) && couldBeKept(asked)) {
      for (const gains of this.#savedBy(asked)) {
        this.#everSaved.add(gains);
        this.gains.maybe(gains, sent, at);
      }
    }
  }

  /**
   * True if the request holds the unit's turn until its answer. A save does not: it releases the turn while it waits
   * for the disk.
   */
  #hasTurn(asked: Asked): boolean {
    return this.#isMode(asked) || this.#isExcitation(asked);
  }

  /** True if the request waits for the unit's turn. */
  #takesTurn(asked: Asked): boolean {
    const isTrial = isPost(asked, this.#path('pidconfig/trial'));
    return this.#hasTurn(asked) || this.#isSave(asked) || isTrial;
  }

  /** Only the answer tells which gains a restore saved. */
  #savedBy(asked: Asked): readonly string[] {
    return isPost(asked, this.#path('pidconfig')) ? [gainsKey(gainsIn(asked.body))] : [...this.#everSaved];
  }

  #path(rest: string): string {
    return `/api/${this.#unit.name}/${rest}`;
  }

  /** The mode to which the request switches the unit. */
  #modeOf(asked: Asked): Mode | undefined {
    if (isPost(asked, '/api/resume')) return 'manual';
    return this.#isMode(asked) ? MODES.find(mode => mode === bodyMember(asked, 'mode')) : undefined;
  }

  #isMode(asked: Asked): boolean {
    return isPost(asked, this.#path('mode/switch'));
  }

  #isExcitation(asked: Asked): boolean {
    return isPost(asked, this.#path('excitation'));
  }

  #isSave(asked: Asked): boolean {
    return isSave(asked, this.#unit.name);
  }
}

/** The exception to "a refused request changes nothing": the disk may have kept a save that it did not confirm. */
function couldBeKept({ answer }: Asked): boolean {
  return answer === undefined || /may be found in force/.test(String(answer.body?.detail));
}

function excitationIn(body: unknown): Excitation {
  const { loop, amplitude, periodS } = isObject(body) ? body : {};
  return { loop: String(loop), amplitude: Number(amplitude), periodS: Number(periodS) };
}

function gainsIn(body: unknown): GainSet {
  return isGainSet(body) ? body : {};
}
