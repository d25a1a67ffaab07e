import { UNIT_LIST, type UnitName } from '../../src/core/units.js';
import { isSave, isStop, isTuneRenewal, isTuneStart } from './acts.js';
import { type Asked, bodyMember, isDelete, isPost, leaseUntilMs } from './asked.js';
import { promise } from './broken-promise.js';
import type { UnitShown } from './unit-model.js';

/** This long after a tuning was ended or its lease expired, its effects are gone. */
const GRACE_MS = 1000;

interface KnownTuning {
  readonly unit: UnitName;
  readonly sent: number;
  /** The event number of the answer. */
  readonly at: number;
  untilMs: number;
}

/** Knows which tunings may be running. Other models check their effects on gains, excitation and laser. */
export class TuneModel {
  #tunings: KnownTuning[] = [];

  answered(asked: Asked, nowMs: number): void {
    const { status, body } = asked.answer ?? { status: 0, body: undefined };
    if (isTuneStart(asked) || isTuneRenewal(asked)) {
      if (status === 202) this.#mayRun(asked);
      const may = this.#tunings.some(({ untilMs }) => nowMs <= untilMs + GRACE_MS);
      promise(body?.code !== 'tune-running' || may, 'refused as tuned', () => 'nobody tunes anything');
    } else if (status === 200) {
      for (const unit of endsIn(asked)) this.#over(unit, asked.sent, nowMs);
    }
  }

  abandoned(asked: Asked): void {
    if (isTuneStart(asked) || isTuneRenewal(asked)) this.#mayRun(asked);
  }

  /** The daemon ended. */
  ended(): void {
    this.#tunings = [];
  }

  reset(unit: UnitName, nowMs: number): void {
    this.#over(unit, Number.POSITIVE_INFINITY, nowMs);
  }

  judgeSettled(
    shown: Readonly<Record<UnitName, UnitShown>>,
    { lit, stopped }: { lit: boolean; stopped: boolean },
    nowMs: number,
  ): void {
    const tuned = UNIT_LIST.map(({ name }) => name).filter(name => shown[name].isTuned);
    promise(tuned.length < 2, 'one tuning', () => 'both units are tuned');
    for (const unit of tuned) {
      const may = this.#tunings.some(tuning => tuning.unit === unit && nowMs <= tuning.untilMs);
      promise(may, 'tuning ends', () => `the ${unit} is tuned; what held it is over`);
      promise(!lit, 'dark while tuned', () => `the laser is lit while the ${unit} is tuned`);
      const fits = !stopped && shown[unit].mode === 'debug';
      promise(fits, 'tuned in debug', () => `the ${unit} is tuned; stopped ${stopped}, ${shown[unit].mode}`);
    }
  }

  #mayRun(asked: Asked): void {
    const unit = UNIT_LIST.find(({ name }) => asked.path.startsWith(`/api/${name}/`))?.name;
    if (unit === undefined) return;
    const untilMs = leaseUntilMs(asked) + GRACE_MS;
    if (isTuneStart(asked)) {
      this.#tunings.push({
        unit,
        sent: asked.sent,
        at: asked.answer?.at ?? Number.POSITIVE_INFINITY,
        untilMs,
      });
    } else {
      for (const tuning of this.#tunings)
        if (tuning.unit === unit) tuning.untilMs = Math.max(tuning.untilMs, untilMs);
    }
  }

  #over(unit: UnitName, sent: number, nowMs: number): void {
    for (const tuning of this.#tunings)
      if (tuning.unit === unit && tuning.at < sent)
        tuning.untilMs = Math.min(tuning.untilMs, nowMs + GRACE_MS);
  }
}

/** The units whose tuning this request has ended. */
function endsIn(asked: Asked): readonly UnitName[] {
  const isOtherMode = bodyMember(asked, 'mode') !== 'debug';
  // A tuning that does not try gains yet has no trial, so deleting the trial does not end it.
  const endedTrial = asked.answer?.body?.ended === true;
  return UNIT_LIST.map(({ name }) => name).filter(
    name =>
      isStop(asked) ||
      isSave(asked, name) ||
      isDelete(asked, `/api/${name}/autotune`) ||
      (isDelete(asked, `/api/${name}/pidconfig/trial`) && endedTrial) ||
      (isPost(asked, `/api/${name}/mode/switch`) && isOtherMode),
  );
}
