import { expect } from 'chai';
import * as fc from 'fast-check';
import { Deadlines } from '../../src/core/deadlines.js';
import { DEFAULT_PERMISSIONS, PHASES, type Phase } from '../../src/core/phases.js';
import { Match, type MatchCall, type MatchSettings, NO_MATCH } from '../../src/match/match.js';
import type { Act } from '../../src/robot/request-gate.js';
import type { NewEvent } from '../../src/schemas/log.js';
import { codeOf } from '../support/code-of.js';
import { ManualClock } from '../support/manual-clock.js';

const SETTINGS: MatchSettings = {
  refereeSilenceMs: 3000,
  onRefereeSilence: 'stop',
  phases: DEFAULT_PERMISSIONS,
};

const ACTS: Readonly<Record<string, Act>> = {
  resume: { kind: 'resume' },
  light: { kind: 'light' },
  manual: { kind: 'mode', mode: 'manual' },
  auto: { kind: 'mode', mode: 'auto' },
  debug: { kind: 'mode', mode: 'debug' },
  excite: { kind: 'excite' },
  save: { kind: 'save' },
  trial: { kind: 'trial' },
};
const PLAYING = ['resume', 'light', 'manual', 'auto'];
const RESTING = ['save', 'trial'];
const ALLOWED: Readonly<Record<Phase, readonly string[]>> = {
  none: Object.keys(ACTS),
  pre: RESTING,
  auto: PLAYING,
  teleop: PLAYING,
  pause: RESTING,
  ended: RESTING,
};

describe('match rules:', () => {
  let clock: ManualClock;
  let match: Match;
  let stops: string[];
  let happened: NewEvent[];

  function begin(settings: Partial<MatchSettings> = {}): void {
    clock = new ManualClock();
    const deadlines = new Deadlines(clock);
    match = new Match({ clock, deadlines, settings: { ...SETTINGS, ...settings }, state: NO_MATCH });
    stops = [];
    happened = [];
    match.mustStop.add(why => stops.push(why));
    match.happened.add(event => happened.push(event));
  }
  beforeEach(() => begin());

  let revision = 0;
  const call = (phase: Phase, more: Partial<MatchCall> = {}): MatchCall => {
    revision += 1;
    return { id: 'M1', revision, phase, remainingS: null, ...more };
  };
  const set = (phase: Phase, more: Partial<MatchCall> = {}, by = 'referee') =>
    match.set(call(phase, more), by);
  const beat = (holder = 'desk', { by = 'referee', ttlMs = 2000, takeover = false } = {}) =>
    match.beat(holder, by, ttlMs, takeover);
  const refused = (name: string) => codeOf(() => match.require(ACTS[name]!));
  const play = (more: Partial<MatchCall> = {}) => {
    beat();
    set('auto', more);
  };

  for (const [what, permissions] of [
    ['that forbids the mode "manual"', { modes: ['auto'] }],
    ['that forbids driving', { drive: false }],
  ] as const)
    it(`a phase ${what} also forbids a resume, because a resume puts the controllers into the mode "manual"`, () => {
      begin({ phases: { ...DEFAULT_PERMISSIONS, auto: { ...DEFAULT_PERMISSIONS.auto, ...permissions } } });
      play();
      expect(refused('resume')).to.equal('wrong-phase');
    });

  for (const phase of PHASES) {
    it(`in the phase "${phase}", exactly these acts are allowed unless the robot is locked: ${ALLOWED[phase].join(', ')}`, async () => {
      beat();
      set(phase);
      const codes = () => Object.keys(ACTS).map(refused);
      expect(codes()).to.deep.equal(
        Object.keys(ACTS).map(name => (ALLOWED[phase].includes(name) ? undefined : 'wrong-phase')),
      );
      await clock.advance(10_000);
      match.lock({ id: 'L1', by: 'referee', reason: 'inspection' });
      expect(new Set(codes())).to.deep.equal(new Set(['locked']));
      match.unlock();
      expect(codes()).to.not.include('locked');
    });
  }

  it('the phase "pre" allows exactly the modes that the configuration lists for "pre"', () => {
    const modes = ['manual', 'debug'] as const;
    const phases = { ...DEFAULT_PERMISSIONS, pre: { ...DEFAULT_PERMISSIONS.pre, drive: true, modes } };
    begin({ phases });
    set('pre');
    expect(refused('debug')).to.equal(undefined);
    expect(refused('auto')).to.equal('wrong-phase');
  });

  it('a lock is replaced by a lock with another id, but not by a lock with the same id', () => {
    const first = { id: 'L1', by: 'desk', reason: 'inspection' };
    match.lock(first);
    match.lock({ id: 'L1', by: 'other', reason: 'late copy' });
    expect(match.state.lock).to.deep.equal(first);
    match.lock({ ...first, id: 'L2' });
    expect(match.state.lock?.id).to.equal('L2');
  });

  it('an unlock removes the lock, but is refused if the unlock names the id of another lock', () => {
    match.unlock('L1');
    match.lock({ id: 'L2', by: 'desk', reason: 'inspection' });
    expect(codeOf(() => match.unlock('L1'))).to.equal('lock-changed');
    expect(match.state.lock?.id).to.equal('L2');
    match.unlock('L2');
    expect(match.state.lock).to.equal(null);
    match.lock({ id: 'L3', by: 'desk', reason: 'inspection' });
    match.unlock();
    expect(match.state.lock).to.equal(null);
  });

  describe('a call', () => {
    it('that repeats the last call unchanged is accepted, but does not restart the time limit of the phase', async () => {
      const last = call('pre', { remainingS: 10 });
      match.set(last, 'referee');
      await clock.advance(6000);
      match.set({ ...last }, 'referee');
      await clock.advance(5000);
      expect(match.state.phase).to.equal('ended');
      match.set({ ...last }, 'referee');
      expect(match.state.phase).to.equal('ended');
    });

    it('with a lower revision number than the last call, or the same number but other content, is refused as `stale-match`', () => {
      const last = call('pre');
      match.set(last, 'referee');
      const before = match.state;
      for (const change of [{ phase: 'none' }, { remainingS: 5 }, { revision: last.revision - 1 }] as const)
        expect(codeOf(() => match.set({ ...last, ...change }, 'referee'))).to.equal('stale-match');
      expect(match.state).to.equal(before);
    });

    it('may begin a new match only from the phase "none" or "ended", or if it sets the phase "pre" or "ended"', () => {
      for (const before of PHASES)
        for (const after of PHASES) {
          begin();
          beat();
          set(before);
          const mayBegin = [before, after].includes('ended') || before === 'none' || after === 'pre';
          const code = codeOf(() =>
            match.set({ id: 'M2', revision: 0, phase: after, remainingS: null }, 'referee'),
          );
          expect(code, `${before} to ${after}`).to.equal(mayBegin ? undefined : 'stale-match');
        }
    });

    it('that arrives again after root has cleared the match leaves the phase at "none"', () => {
      for (const phase of PHASES) {
        const code = ['auto', 'teleop', 'pause'].includes(phase) ? 'wrong-phase' : undefined;
        begin();
        beat();
        const last = call(phase);
        match.set(last, 'referee');
        match.lock({ id: 'L1', by: 'desk', reason: 'inspection' });
        expect(
          codeOf(() => match.clear()),
          phase,
        ).to.equal(code);
        if (code !== undefined) continue;
        match.set({ ...last }, 'referee');
        expect([match.state.phase, match.state.call]).to.deep.equal(['none', last]);
        expect(match.state.lock?.by).to.equal('desk');
        expect(codeOf(() => match.set({ ...last, remainingS: 9 }, 'referee'))).to.equal('stale-match');
      }
    });

    it('to end the match is refused as `wrong-phase` if no match is on (phase "none")', () => {
      expect(codeOf(() => match.end())).to.equal('wrong-phase');
      expect(match.state.phase).to.equal('none');
    });

    it('that begins a new match after root has ended the old one is accepted even with a lower revision number than the last call', async () => {
      play({ remainingS: 2, revision: Number.MAX_SAFE_INTEGER });
      match.end();
      expect([match.state.phase, match.state.endsAtMs]).to.deep.equal(['ended', null]);
      await clock.advance(60_000);
      expect(stops).to.deep.equal([]);
      set('pre', { id: 'M2' });
      expect(match.state.phase).to.equal('pre');
    });
  });

  describe('the time limit of a phase', () => {
    it('ends the match and stops the robot when the time is up, even if no request arrives', async () => {
      play({ remainingS: 2 });
      await clock.advance(1999);
      expect(match.state.phase).to.equal('auto');
      await clock.advance(1);
      expect(match.state.phase).to.equal('ended');
      expect(stops).to.deep.equal(['time is up']);
      expect(happened.at(-1)).to.deep.include({ what: 'phase' });
    });

    it('ends the phase on time even if the wall clock is set a year back or ahead', async () => {
      play({ remainingS: 2 });
      const wall = clock.wallTime.bind(clock);
      for (const years of [-1, 1]) {
        clock.wallTime = () => new Date(wall().getTime() + years * 365 * 86_400_000);
        await clock.advance(900);
        expect(match.state.phase).to.equal('auto');
      }
      await clock.advance(200);
      expect(match.state.phase).to.equal('ended');
    });

    it('does not end a later phase that has no time limit', async () => {
      play({ remainingS: 2 });
      set('pause');
      await clock.advance(60_000);
      expect(match.state.phase).to.equal('pause');
      expect(stops).to.deep.equal([]);
    });
  });

  describe('if a busy daemon notices a deadline late,', () => {
    const QUESTIONS: Readonly<Record<string, () => unknown>> = {
      beat: () => beat(),
      drive: () => match.require({ kind: 'mode', mode: 'auto' }),
      pause: () => set('pause'),
      teleop: () => set('teleop'),
      end: () => match.end(),
      silence: () => match.refereeSilent,
    };
    const round = async (name: string, silentMs: number, lateMs: number, isTimerFirst: boolean) => {
      begin();
      play({ remainingS: 4 });
      await clock.advance(4000 - silentMs);
      if (!stops.includes('the referee is silent')) beat();
      await clock.advance(silentMs - 500);
      clock.late(500 + lateMs);
      if (isTimerFirst) await clock.advance(0);
      const code = codeOf(() => QUESTIONS[name]?.());
      await clock.advance(0);
      return {
        code,
        stops,
        happened: happened.map(({ what }) => what),
        state: { ...match.state, call: null },
      };
    };

    it('answers, stops, events and state are the same whether a timer or a request is the first to notice the deadline', () =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...Object.keys(QUESTIONS)),
          fc.integer({ min: 500, max: 3500 }),
          fc.constantFrom(0, 1, 700),
          async (name, silentMs, lateMs) => {
            const [one, other] = [
              await round(name, silentMs, lateMs, true),
              await round(name, silentMs, lateMs, false),
            ];
            expect(one).to.deep.equal(other);
          },
        ),
        { numRuns: 500 },
      ));
  });

  describe('the lease of the referee desk', () => {
    it('is needed to set the phase "auto" or "teleop"', async () => {
      expect(codeOf(() => set('auto'))).to.equal('referee-silent');
      beat();
      set('auto');
      await clock.advance(5000);
      expect(codeOf(() => set('teleop'))).to.equal('referee-silent');
    });

    for (const other of [
      { holder: 'blue', by: 'referee', is: 'another desk with the same token' },
      { holder: 'red', by: 'another referee', is: 'the same desk with another token' },
    ]) {
      it(`is refused to ${other.is} until the lease of the present holder expires`, async () => {
        beat('red');
        expect(codeOf(() => beat(other.holder, other))).to.equal('lease-held');
        await clock.advance(1999);
        beat('red');
        await clock.advance(1999);
        expect(codeOf(() => beat(other.holder, other))).to.equal('lease-held');
        await clock.advance(1);
        beat(other.holder, other);
        expect(match.lease.owner).to.include({ holder: other.holder, by: other.by });
        beat('red', { takeover: true });
        const detail = { holder: 'red', before: other.holder };
        expect(happened.at(-1)).to.deep.equal({ what: 'lease', who: 'referee', detail });
      });
    }

    it('allows another token to set only the phases "pause" and "ended" until the lease expires', async () => {
      for (const phase of PHASES) {
        begin();
        beat();
        const isFree = phase === 'pause' || phase === 'ended';
        const code = codeOf(() => set(phase, {}, 'other'));
        expect(code, phase).to.equal(isFree ? undefined : 'lease-held');
        const own = call(phase);
        match.set(own, 'referee');
        const repeated = codeOf(() => match.set(own, 'other'));
        expect(repeated, `${phase} repeated`).to.equal(isFree ? undefined : 'lease-held');
        match.lock({ id: 'L1', by: 'other', reason: 'inspection' });
        await clock.advance(2000);
        set(phase, {}, 'other');
      }
    });

    it('is not logged again when it is renewed', () => {
      beat();
      const before = happened.length;
      for (let count = 0; count < 10; count += 1) beat();
      expect(happened.length).to.equal(before);
    });
  });

  describe('silence of the referee desk (no beat)', () => {
    it('does not begin early if the daemon reads an old, delayed beat after a newer beat', async () => {
      play();
      await clock.advance(2000);
      beat();
      await clock.advance(1500);
      match.beat('desk', 'referee', 2000, false, 0);
      await clock.advance(1000);
      expect([match.refereeSilent, stops]).to.deep.equal([false, []]);
    });

    it('does not end when the daemon reads a delayed beat that is itself older than 3 s', async () => {
      play();
      await clock.advance(5000);
      const before = happened.length;
      match.beat('desk', 'referee', 2000, false, 1000);
      expect([match.refereeSilent, happened.length, stops.length]).to.deep.equal([true, before, 1]);
    });

    it('stops the robot after 3 s, and forbids motion, light and resume until the next beat', async () => {
      play();
      for (let times = 0; times < 2; times += 1) {
        await clock.advance(2900);
        expect([stops, refused('auto')]).to.deep.equal([[], undefined]);
        if (times === 0) beat();
      }
      await clock.advance(200);
      expect(stops).to.deep.equal(['the referee is silent']);
      for (const name of PLAYING) expect(refused(name)).to.equal('referee-silent');
      beat();
      expect(refused('resume')).to.equal(undefined);
      expect(stops.length).to.equal(1);
    });

    for (const [what, ttlMs, waitMs] of [
      ['the lease lasts 60 s', 60_000, 0],
      ['the lease lasts 100 ms', 100, 0],
      ['the phase began 2 s after that beat', 2000, 2000],
    ] as const)
      it(`begins 3 s after the last beat, even if ${what}`, async () => {
        beat('desk', { ttlMs });
        await clock.advance(waitMs);
        set('auto');
        await clock.advance(2900 - waitMs);
        expect(stops).to.deep.equal([]);
        await clock.advance(200);
        expect(stops).to.deep.equal(['the referee is silent']);
      });

    it('has no effect in the phases "none", "pre", "pause" and "ended"', async () => {
      for (const phase of ['none', 'pre', 'pause', 'ended'] as const) {
        beat();
        set(phase);
        await clock.advance(60_000);
        expect([stops, match.refereeSilent], phase).to.deep.equal([[], false]);
      }
    });

    it('with `onRefereeSilence: hold` is logged, but does not stop the robot or forbid the phase "auto"', async () => {
      begin({ onRefereeSilence: 'hold' });
      set('auto');
      expect(match.refereeSilent).to.equal(true);
      beat();
      expect(match.refereeSilent).to.equal(false);
      await clock.advance(60_000);
      expect(stops).to.deep.equal([]);
      expect(refused('auto')).to.equal(undefined);
      expect(happened.at(-1)).to.deep.include({ what: 'referee-silent' });
    });
  });
});
