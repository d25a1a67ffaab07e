import type { Excitation, GainSet, Mode } from '../core/units.js';
import { changedLoops } from '../gains/changed-loops.js';
import type { DriveEnd, ExcitationEnd, TrialEnd, UnitEvent } from './robot-event.js';
import { type DriverName, isSameDriver, isSameExcitation, type Trial, type Wanted } from './wanted.js';

/** A driver keeps the unit for this long after the last command has ended. */
const KEPT_MS = 1000;
/** Faults that report a frame damaged on the bus. They say nothing about the motors. */
const HARMLESS: readonly string[] = ['frame_refused', 'commit_refused'];

/**
 * What changes the wanted state, with the details. First what callers were answered, then what a controller showed.
 * `own`: no frame of the daemon explains it.
 */
export interface Causes {
  /** `excitation` is what the controller shows in debug mode. */
  mode: { readonly mode: Mode; readonly excitation?: Excitation | undefined };
  excitation: { readonly excitation: Excitation; readonly runaway?: number | undefined };
  /** The controller runs these gains. */
  save: { readonly gains: GainSet };
  /** The disk has confirmed or refused these gains. */
  'save over': { readonly gains: GainSet };
  /** A trial begins, or is renewed. A renewal may change its gains. */
  trial: Trial;
  'trial over': { readonly why: 'ended' | 'lease' };
  /** `excitation` is the last one of the tuning `id`. */
  'tuning over': { readonly id: string; readonly excitation: Excitation | undefined };
  stop: object;
  'resume begun': object;
  'resume refused': object;
  /** `isConfirmed`: this controller has already confirmed its release. */
  resume: { readonly isConfirmed: boolean };
  drive: DriverName & { readonly nowMs: number; readonly holdsUntilMs: number };
  /** A frame of the driver is being sent. */
  'drive frame': object;
  'drive over': { readonly why: DriveEnd };

  'first contact': { readonly mode: Mode };
  'own mode': { readonly mode: Mode };
  'own excitation': { readonly excitation: Excitation };
  /** The excitation that an earlier daemon left when it ended during a trial. */
  'excitation of a lost trial': object;
  'own latch': object;
  'no torque': { readonly isLatched: boolean };
  faults: { readonly appeared: readonly string[]; readonly gone: readonly string[] };
  /** `followers` are the loops that follow the target. In debug mode a loop does so only while it is excited. */
  'target lost': { readonly mode: Mode; readonly followers: readonly string[] };
  'loop past its bound': object;
  /** `mayKeepMode`: neither the configuration nor the match forbids the last mode. */
  reset: { readonly mayKeepMode: boolean };
  offline: object;
}

export type Cause = keyof Causes;

/** What to emit. `found-latched` asks for a stop of the whole robot. */
export type News = UnitEvent | { readonly what: 'found-latched' };

/** The table "A unit: wanted and observed" of ARCHITECTURE.md. */
const RULES: { readonly [C in Cause]: (next: Draft, cause: Causes[C]) => void } = {
  mode: (next, { mode, excitation }) => {
    // In debug mode already, the excitation may be left from a refused request, so it is not adopted.
    if (mode !== 'debug' || next.wanted.mode !== 'debug') next.mode(mode, excitation);
  },
  excitation: (next, { excitation, runaway }) => next.excite(excitation, runaway),
  save: (next, { gains }) => {
    next.endTrial('saved');
    next.set({ saving: [...next.wanted.saving, gains] });
  },
  'save over': (next, { gains }) => {
    const { saving } = next.wanted;
    next.set({ saving: saving.toSpliced(saving.indexOf(gains), 1) });
  },
  trial: (next, trial) => {
    const { by, gains } = trial;
    const before = next.wanted.trial;
    next.set({ trial });
    const loops = before && Object.keys(changedLoops(before.gains, gains)).join(', ');
    if (loops === undefined) next.news.push({ what: 'trial', detail: { by } });
    else if (loops !== '') next.news.push({ what: 'trial-changed', detail: { by, loops } });
  },
  'trial over': (next, { why }) => next.endTrial(why),
  'tuning over': (next, { id, excitation }) => {
    if (next.wanted.trial?.id === id) next.endTrial('ended');
    if (excitation !== undefined && isSameExcitation(next.wanted.excitation, excitation))
      next.endExcitation();
  },
  stop: next => {
    // A stop wins over a resume under way.
    next.set({ latch: 'set', isUnderRelease: false });
    next.endAll('stop');
  },
  'resume begun': next => next.set({ isUnderRelease: true }),
  'resume refused': next => next.set({ isUnderRelease: false }),
  resume: (next, { isConfirmed }) => {
    next.set({ latch: isConfirmed ? 'as it is' : 'released', isUnderRelease: false });
    next.endDrive('resume');
    next.mode('manual');
  },
  drive: (next, { by, id, nowMs, holdsUntilMs }) => {
    const { driver } = next.wanted;
    const isNew = driver === undefined || !isSameDriver(driver, { by, id });
    if (isNew) next.endDrive('takeover');
    const { sinceMs, hasSent } = isNew ? { sinceMs: nowMs, hasSent: false } : driver;
    next.set({ driver: { by, id, sinceMs, untilMs: holdsUntilMs + KEPT_MS, hasSent } });
  },
  'drive frame': next => {
    const { driver } = next.wanted;
    if (driver === undefined || driver.hasSent) return;
    next.set({ driver: { ...driver, hasSent: true } });
    next.news.push({ what: 'drive', detail: { by: driver.by, id: driver.id } });
  },
  'drive over': (next, { why }) => next.endDrive(why),

  'first contact': (next, { mode }) => next.set({ mode }),
  'own mode': (next, { mode }) => next.mode(mode),
  'own excitation': (next, { excitation }) => next.excite(excitation),
  'excitation of a lost trial': next => next.endExcitation(),
  'own latch': next => next.news.push({ what: 'found-latched' }),
  'no torque': (next, { isLatched }) => next.endExcitation(isLatched ? 'stop' : 'no torque'),
  faults: (next, { appeared, gone }) => {
    for (const fault of appeared) next.news.push({ what: 'fault', detail: { fault } });
    for (const fault of gone) next.news.push({ what: 'fault-gone', detail: { fault } });
    // The controller's guard has ended the excitation. No frame may start it again.
    if (appeared.includes('ran_away')) {
      next.endExcitation('runaway');
      next.endTrial('runaway');
    }
    if (appeared.some(fault => !HARMLESS.includes(fault))) next.endTrial('fault');
  },
  'target lost': (next, { mode, followers }) => {
    const { excitation, trial } = next.wanted;
    const isFollowed = mode !== 'debug' || followers.includes(excitation?.loop ?? '');
    // A trial whose gains do not run yet may begin without a target.
    if (trial !== undefined && isFollowed) next.endTrial('target lost');
  },
  'loop past its bound': next => {
    if (next.wanted.trial !== undefined) next.endTrial('runaway');
  },
  reset: (next, { mayKeepMode }) => {
    const { latch, mode } = next.wanted;
    if (mode !== undefined && (latch === 'set' || !mayKeepMode)) next.set({ mode: 'manual' });
    next.endAll('reset');
    next.news.push({ what: 'reset' });
  },
  // The controller may lose its torque before it returns, so nothing that moved begins again.
  offline: next => next.endAll('offline'),
};

/** Decides what is wanted after a cause, and what to emit. */
export function decide<C extends Cause>(before: Wanted, cause: C, detail: Causes[C]): Draft {
  const next = new Draft(before);
  RULES[cause](next, detail);
  return next;
}

/** A wanted state that is being changed, and the news of the changes. */
class Draft {
  wanted: Wanted;
  readonly news: News[] = [];

  constructor(before: Wanted) {
    this.wanted = before;
  }

  set(change: Partial<Wanted>): void {
    this.wanted = { ...this.wanted, ...change };
  }

  /** Ends what moves, or may move, by itself. */
  endAll(why: ExcitationEnd & TrialEnd & DriveEnd): void {
    this.endExcitation(why);
    this.endTrial(why);
    this.endDrive(why);
  }

  mode(mode: Mode, excitation?: Excitation): void {
    if (mode !== this.wanted.mode) this.endTrial('mode change');
    this.endDrive('mode change');
    this.set({ mode });
    this.excite(excitation);
  }

  excite(excitation: Excitation | undefined, runaway?: number): void {
    if (excitation === undefined || excitation.amplitude === 0) {
      this.endExcitation();
      return;
    }
    const isNew = !isSameExcitation(excitation, this.wanted.excitation);
    this.set({ excitation: { ...excitation, runaway } });
    if (isNew) this.news.push({ what: 'excitation', detail: { ...excitation } });
  }

  /** `why` is for an end that nobody asked for. */
  endExcitation(why?: ExcitationEnd): void {
    if (this.wanted.excitation === undefined) return;
    this.set({ excitation: undefined });
    this.news.push({ what: 'excitation', detail: { amplitude: 0, ...(why && { why }) } });
  }

  endTrial(why: TrialEnd): void {
    const { trial, trialsEnded } = this.wanted;
    this.set({ trial: undefined, trialsEnded: trialsEnded + 1 });
    if (trial !== undefined) this.news.push({ what: 'trial-ended', detail: { by: trial.by, why } });
  }

  endDrive(why: DriveEnd): void {
    if (this.wanted.driver === undefined) return;
    const { by, hasSent, id } = this.wanted.driver;
    this.set({ driver: undefined });
    if (hasSent) this.news.push({ what: 'drive-ended', detail: { by, id, why } });
  }
}
