import { expect } from 'chai';
import { whyNoResume } from '../../src/console/bar/lines.js';
import { actText } from '../../src/console/model/log-view.js';
import { matchEvents } from '../../src/console/model/match-events.js';
import { PHASES } from '../../src/core/phases.js';
import type { LogEvent } from '../../src/schemas/log.js';
import { NO_MATCH_STATUS } from '../support/status.js';
import { FakePage, servedPage } from './fake-page.js';
import type { ServingDaemon } from './page-daemon.js';

type Page = FakePage<ServingDaemon>;

describe('a page used by a referee', () => {
  let page: Page;
  let referee: Page['model']['referee'];
  beforeEach(async () => {
    page = await servedPage();
    ({ referee } = page.model);
  });
  const beats = () => page.sentTo(/lease/).length;
  /** The time since the page has renewed the lease. */
  const beatAgeMs = () => page.clock.nowMs() - referee.beatMs.value!;

  it('renews the referee lease once a second, but only while the page holds the lease', async () => {
    await page.wait(3000);
    expect(beats()).to.equal(0);
    await page.during(referee.take());
    await page.wait(3500);
    expect(beats()).to.equal(4);
    expect(beatAgeMs()).to.be.within(450, 500);
    referee.release();
    await page.wait(3000);
    expect(beats()).to.equal(4);
  });

  it('takes the lease from another page only if the referee chooses “Take it over”', async () => {
    const other = await FakePage.of(page.daemon);
    const shown = ({ model: { referee } }: Page) => [
      referee.isBeating,
      referee.isHeld,
      referee.action.refusal.value,
    ];
    await page.untilHeard(referee.take());
    expect(shown(other)).to.deep.equal([false, true, undefined]);
    await other.during(other.model.referee.take());
    expect(shown(other)).to.deep.equal([false, true, undefined]);
    await other.during(other.model.referee.take(true));
    await page.wait(1500);
    expect(shown(other)).to.deep.equal([true, false, undefined]);
    expect(shown(page)).to.deep.equal([false, true, undefined]);
    await page.untilHeard(referee.take(true));
    expect(shown(page)).to.deep.equal([true, false, undefined]);
  });

  it('counts as silent if the page holds the lease but has not renewed the lease for more than 2 s, until a second after the network is up again', async () => {
    const isSilent = () => referee.isSilent(page.clock.nowMs());
    await page.wait(3000);
    expect(isSilent()).to.equal(false);
    await page.during(referee.take());
    await page.wait(1900);
    expect(isSilent()).to.equal(false);
    page.cut();
    await page.wait(2500);
    expect(isSilent()).to.equal(true);
    page.mend();
    await page.wait(1000);
    expect(isSilent()).to.equal(false);
  });

  it('gives a reason for each phase that cannot be set, such as “needs the lease” or “name the match”', async () => {
    const why = (id: string) => Object.fromEntries(PHASES.map(phase => [phase, referee.whyNot(id, phase)]));
    const needs = { auto: 'needs the lease', teleop: 'needs the lease' };
    const free = { none: '', pre: '', auto: '', teleop: '', pause: '', ended: '' };
    expect(why('one')).to.deep.equal({ ...free, ...needs, none: '' });
    expect(why('')).to.include({ pre: 'name the match', pause: 'name the match' });
    await page.during(referee.take());
    referee.setDuration('auto', 'x');
    await page.untilHeard(referee.begin('one', 'teleop'));
    expect(why('one')).to.deep.equal({ ...free, auto: 'check the time', teleop: 'now' });
    const first = { auto: 'press pre first', teleop: 'press pre first' };
    expect(why('two')).to.deep.equal({ ...free, ...first });
  });

  it('applies the phases “pause” and “ended” to the running match, even if the name of the next match is already typed', async () => {
    const sent = () => page.sentTo(/match$/).at(-1)?.body;
    await page.during(referee.take());
    await page.untilHeard(referee.begin('one', 'auto'));
    for (const phase of ['pause', 'ended'] as const) {
      await page.untilHeard(referee.begin('two', phase));
      expect(sent()).to.include({ id: 'one', phase });
    }
    await page.untilHeard(referee.begin('two', 'pre'));
    expect(sent()).to.include({ id: 'two', phase: 'pre' });
  });

  it('learns from the daemon how long ago another desk took the lease', async () => {
    await page.during(referee.look());
    expect(referee.beatMs.value).to.equal(undefined);
    await page.daemon.ask('POST /api/match/lease', { holder: 'desk', ttlMs: 1000 });
    await page.wait(4000);
    await page.during(referee.look());
    expect(beatAgeMs()).to.be.within(4000, 4100);
    await page.during(referee.take());
    await page.during(referee.look());
    expect(beatAgeMs()).to.be.below(100);
  });

  it('stops renewing the lease when the daemon refuses a renewal as “not-allowed”', async () => {
    await page.during(referee.take());
    page.refuse(/lease/, 403, 'not-allowed');
    await page.wait(1500);
    expect(referee.isBeating).to.equal(false);
  });

  it('continues a paused phase with the time that was left when the pause began', async () => {
    await page.daemon.ask('POST /api/match', { id: 'final', revision: 7, phase: 'pre' });
    await page.untilHeard(referee.take());
    referee.setDuration('teleop', '90');
    void referee.begin('final', 'teleop');
    await page.wait(3000);
    expect(page.sentTo(/match$/).at(-1)?.body).to.include({
      id: 'final',
      revision: 8,
      phase: 'teleop',
      remainingS: 90,
    });
    void referee.begin('final', 'pause');
    await page.wait(1000);
    const match = () => page.daemon.ask('GET /api/match');
    expect((await match()).phase).to.equal('pause');
    const { phase, remainingS } = referee.interrupted.value!;
    expect(remainingS).to.be.within(86.7, 87.3);
    await page.untilHeard(referee.set('final', phase, remainingS));
    expect(await match()).to.include({ phase: 'teleop', revision: 10 });
    expect(referee.interrupted.value).to.equal(undefined);
  });

  for (const [typed, durationS] of [
    ['90', 90],
    ['2:00', 120],
    [' 1,5 ', 1.5],
    ['', null],
    ['30s', undefined],
    ['-5', undefined],
    ['0', undefined],
    ['86401', undefined],
  ] as const)
    it(`reads the typed duration "${typed}" as ${durationS === null ? 'no time limit' : durationS === undefined ? 'invalid, and begins no phase' : `${durationS} s`}`, async () => {
      await page.wait(200);
      referee.setDuration('teleop', typed);
      expect(referee.durationS('teleop')).to.equal(durationS);
      await page.untilHeard(referee.begin('final', 'teleop'));
      expect(page.sentTo(/match$/).map(({ body }) => body.remainingS)).to.deep.equal(
        durationS === undefined ? [] : [durationS],
      );
    });

  it('keeps the typed durations when the page is reloaded', async () => {
    referee.setDuration('auto', '15');
    const again = await page.another();
    expect(again.model.referee.durations.value).to.deep.equal({ auto: '15', teleop: '120' });
  });

  it('sends no beat while it is hidden, so that a robot in play stops after 3 s, and renews the lease within a second afterwards', async () => {
    await page.during(referee.take());
    await page.during(referee.begin('M', 'teleop'));
    await page.wait(1000);
    const before = beats();
    page.model.stream.setHidden(true);
    await page.wait(3100);
    expect(beats()).to.equal(before);
    expect(await page.daemon.status()).to.deep.include({ stopped: true });
    page.model.stream.setHidden(false);
    await page.wait(1000);
    expect([beats(), referee.isBeating]).to.deep.equal([before + 1, true]);
  });
});

describe('the list of match events', () => {
  it("shows the newest ten entries, with a referee's request and the resulting phase change as a single entry", () => {
    const event = (seq: number, more: Partial<LogEvent>): LogEvent => ({
      seq,
      t: seq,
      at: '2030-01-01T00:00:00.000Z',
      what: 'phase',
      ...more,
    });
    const events = [
      ...Array.from({ length: 12 }, (_, seq) => event(seq, { what: 'referee-heard' })),
      event(20, { what: 'save', unit: 'gimbal' }),
      event(21, { what: 'lease', who: 'desk', detail: { holder: 'desk', before: null } }),
      event(22, { detail: { before: 'pre', after: 'auto', why: 'set' } }),
      event(22, { who: 'desk', outcome: 'done', detail: { id: 'M1', revision: 2, remainingS: 29.5 } }),
      event(30, { what: 'resume', who: 'op', outcome: 'done', detail: { repeats: 3 } }),
      event(52, { detail: { before: 'auto', after: 'ended', why: 'time is up' } }),
    ];
    const texts = matchEvents(events).map(({ text }) => text);
    expect(texts.length).to.equal(10);
    expect(texts.slice(0, 4)).to.deep.equal([
      'Phase: auto → ended, time is up.',
      'Phase: pre → auto, lasts 30 s, by desk.',
      'Lease, by desk.',
      'Referee heard.',
    ]);
  });
});

describe('a log entry on the page', () => {
  it('is in plain words, such as “Lock: inspection” or “not kept”, without “reason”, “true”, “false” or the latest time of a request', () => {
    const about = { seq: 1, t: 1, at: '2030-01-01T00:00:00.000Z' };
    const lock = {
      ...about,
      what: 'lock',
      who: 'desk',
      outcome: 'done',
      detail: { reason: 'inspection', notAfterT: 27.5 },
    };
    const start = { ...about, what: 'start', detail: { version: '0.4.0', simulated: true, kept: false } };
    expect([lock, start].map(actText)).to.deep.equal([
      'Lock: inspection, by desk.',
      'Start: version 0.4.0, simulated, not kept.',
    ]);
  });
});

describe('the alert about a stop', () => {
  it('gives the time of the stop, and either who requested it or why the daemon stopped the robot', async () => {
    const page = await servedPage();
    await page.daemon.askAndWait('POST /api/stop');
    expect(page.strip).to.match(/Stopped at [\d: -]+ by 192\.0\.2\.2: gimbal stopped/);
    await page.daemon.ask('POST /api/resume');
    await page.during(page.model.referee.take());
    await page.untilHeard(page.model.referee.set('a', 'teleop', null));
    page.model.referee.release();
    await page.wait(3500);
    expect(page.strip).to.match(/Stopped at [\d: -]+ \(the referee is silent\): gimbal stopped/);
  });

  it('offers no “Resume” while a resume is forbidden, and says why', async () => {
    const page = await servedPage({ config: { supervision: { hostSilenceMs: 0 } } });
    const why = () => whyNoResume(page.model.status.value!);
    await page.daemon.askAndWait('POST /api/stop');
    expect(why()).to.equal('');
    expect(page.strip).to.match(/Resume puts both units in manual/);
    await page.daemon.askAndWait('POST /sim/faults', { target: 'gimbal', fault: 'unplug' });
    expect(why()).to.equal('not confirmed');
    await page.untilHeard(page.model.referee.set('a', 'pre', null));
    expect(why()).to.equal('not in pre');
    await page.untilHeard(page.model.referee.lock('x'));
    expect(why()).to.equal('locked');
    expect(page.strip).to.not.match(/Resume/);
  });
});

describe('the button "Go on" of a page on which a phase was paused', () => {
  const open = async () => {
    const page = await FakePage.open();
    await show(page, { id: 'A', phase: 'teleop', endsAtT: page.clock.nowMs() / 1000 + 120, revision: 3 });
    return page;
  };
  const show = async (page: FakePage, match: Partial<typeof NO_MATCH_STATUS>) => {
    page.daemon.more = { match: { ...NO_MATCH_STATUS, ...match } };
    await page.wait(200);
  };
  const offered = ({ model }: FakePage) => model.referee.interrupted.value?.phase;

  it('is not offered if the pause began while the page had no contact, because the time left is then unknown', async () => {
    const page = await open();
    page.cut();
    await page.wait(20_000);
    await show(page, { id: 'A', phase: 'pause', revision: 4 });
    page.mend();
    await page.wait(6000);
    expect([page.model.fresh.value, offered(page)]).to.deep.equal([true, undefined]);
  });

  it('is not offered for a match of another name', async () => {
    const page = await open();
    await show(page, { id: 'B', phase: 'pause', revision: 1 });
    expect(offered(page)).to.equal(undefined);
    await show(page, { id: 'B', phase: 'auto', revision: 2 });
    await show(page, { id: 'B', phase: 'pause', revision: 3 });
    await show(page, { id: 'C', phase: 'pause', revision: 1 });
    expect(offered(page)).to.equal(undefined);
  });

  it('stays offered after the page was hidden during the pause, unless the match has gone on meanwhile', async () => {
    const page = await open();
    const hide = async (hidden: boolean) => {
      page.model.stream.setHidden(hidden);
      await page.wait(1000);
    };
    await show(page, { id: 'A', phase: 'pause', revision: 4 });
    await hide(true);
    await hide(false);
    expect(offered(page)).to.equal('teleop');
    await hide(true);
    await show(page, { id: 'A', phase: 'pause', revision: 6 });
    await hide(false);
    expect(offered(page)).to.equal(undefined);
  });
});

describe("a referee's press that lets the robot move", () => {
  const open = async () => {
    const page = await servedPage({ config: { match: { refereeSilenceMs: 20_000 } } });
    const { referee } = page.model;
    await page.during(referee.take());
    await page.during(referee.begin('M', 'pre'));
    await page.wait(500);
    return { page, referee };
  };
  /** Everything that the page asks of the match arrives this late. */
  const delay = (page: Page, ms: number) => {
    page.fate = one => {
      if (!/match/.test(one.path)) return 'delivered';
      page.clock.after(ms, () => one.deliver());
      return 'held';
    };
  };
  const match = async ({ daemon }: Page) => (await daemon.status()).match;

  for (const [delayMs, phase] of [
    [800, 'teleop'],
    [2500, 'pre'],
  ] as const)
    it(`${phase === 'pre' ? 'does nothing, and says so,' : 'takes effect'} if it arrives ${delayMs} ms later`, async () => {
      const { page, referee } = await open();
      delay(page, delayMs);
      void referee.begin('M', 'teleop');
      await page.wait(delayMs + 50);
      expect((await match(page)).phase).to.equal(phase);
      expect(referee.action.refusal.value?.code).to.equal(phase === 'pre' ? 'too-late' : undefined);
    });

  it('unlocks nothing if it arrives 2.5 s later', async () => {
    const { page, referee } = await open();
    await page.during(referee.lock('x'));
    await page.wait(200);
    const { id } = (await match(page)).lock;
    delay(page, 2500);
    void referee.unlock(id);
    await page.wait(3000);
    expect((await match(page)).lock?.id).to.equal(id);
  });

  it('cannot be made without contact, but "pause", "ended" and a lock can, and take effect however late they arrive', async () => {
    const { page, referee } = await open();
    await page.during(referee.begin('M', 'teleop'));
    await page.wait(200);
    page.isDeaf = true;
    await page.wait(1000);
    const why = Object.fromEntries(PHASES.map(phase => [phase, referee.whyNot('M', phase)]));
    const not = 'no contact';
    expect(why).to.deep.equal({ none: not, pre: not, auto: not, teleop: 'now', pause: '', ended: '' });
    expect([referee.whyNoPlay, referee.whyNoContact]).to.deep.equal([not, not]);
    delay(page, 3500);
    void referee.begin('M', 'pause');
    await page.wait(3600);
    expect((await match(page)).phase).to.equal('pause');
    void referee.lock('x');
    await page.wait(3600);
    expect((await match(page)).lock).to.not.equal(null);
  });
});
