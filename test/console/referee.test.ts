import { expect } from 'chai';
import { whyNoResume } from '../../src/console/bar/lines.js';
import { refused } from './fake-daemon.js';
import { FakePage } from './fake-page.js';

describe('a referee at the page', () => {
  const beats = (page: FakePage) => page.sentTo(/lease/).length;

  it('beats only after they took the lease, once a second, until they release it', async () => {
    const page = await FakePage.open();
    await page.wait(3000);
    expect(beats(page)).to.equal(0);
    await page.model.referee.take(false);
    await page.wait(3500);
    expect(beats(page)).to.equal(4);
    expect(page.clock.nowMs() - page.model.referee.beatMs.value!).to.equal(500);
    page.model.referee.release();
    await page.wait(3000);
    expect(beats(page)).to.equal(4);
  });

  it('keeps sending beats while the network is down, and knows the age of the last accepted beat', async () => {
    const page = await FakePage.open();
    await page.model.referee.take(false);
    page.cut();
    await page.wait(5000);
    expect(page.model.referee.isBeating).to.equal(true);
    expect(page.clock.nowMs() - page.model.referee.beatMs.value!).to.equal(5000);
    page.mend();
    await page.wait(1000);
    expect(page.clock.nowMs() - page.model.referee.beatMs.value!).to.be.at.most(1000);
  });

  it('is refused while another desk has the lease, may take it over, and then ends the other', async () => {
    const one = await FakePage.open();
    const other = await FakePage.open({ daemon: one.daemon, clock: one.clock });
    await one.model.referee.take(false);
    await other.model.referee.take(false);
    expect(other.model.referee.isBeating).to.equal(false);
    expect(other.model.referee.action.refusal.value?.code).to.equal('lease-held');
    await other.model.referee.take(true);
    await one.wait(1500);
    expect(other.model.referee.isBeating).to.equal(true);
    expect(one.model.referee.isBeating).to.equal(false);
    expect(one.model.referee.action.refusal.value?.code).to.equal('lease-held');
  });

  it('sees how old the last beat of another desk is', async () => {
    const page = await FakePage.open();
    const { referee } = page.model;
    await referee.look();
    expect(referee.beatMs.value).to.equal(undefined);
    page.daemon.beatAgeS = 12;
    await referee.look();
    expect(page.clock.nowMs() - referee.beatMs.value!).to.equal(12_000);
    await referee.take(true);
    await referee.look();
    expect(page.clock.nowMs() - referee.beatMs.value!).to.equal(0);
  });

  it('stops beating when the token loses the right', async () => {
    const page = await FakePage.open();
    await page.model.referee.take(false);
    page.daemon.override = (_, path) => (/lease/.test(path) ? refused(403, 'not-allowed') : undefined);
    await page.wait(1500);
    expect(page.model.referee.isBeating).to.equal(false);
  });

  it('sets phases above the revision in force, with their duration, and continues after a pause with the remaining time', async () => {
    const page = await FakePage.open();
    const { referee } = page.model;
    page.daemon.match = { ...page.daemon.match, id: 'final', revision: 7 };
    await page.wait(200);
    referee.setDuration('teleop', '90');
    void referee.begin('final', 'teleop');
    await page.wait(30_000);
    expect(page.sentTo(/match$/).at(-1)?.body).to.deep.equal({
      id: 'final',
      revision: 8,
      phase: 'teleop',
      remainingS: 90,
    });
    void referee.begin('final', 'pause');
    await page.wait(10_000);
    expect(page.daemon.match.phase).to.equal('pause');
    const { phase, remainingS } = referee.interrupted.value!;
    expect(remainingS).to.be.within(59.7, 60.3);
    void referee.set('final', phase, remainingS);
    await page.wait(200);
    expect(page.daemon.match).to.include({ phase: 'teleop', revision: 10 });
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
    it(`takes "${typed}" for ${durationS ?? (durationS === null ? 'no end' : 'a mistake, which begins nothing')}`, async () => {
      const page = await FakePage.open();
      const { referee } = page.model;
      await page.wait(200);
      referee.setDuration('teleop', typed);
      expect(referee.durationS('teleop')).to.equal(durationS);
      void referee.begin('final', 'teleop');
      await page.wait(200);
      expect(page.sentTo(/match$/).map(({ body }) => body)).to.deep.equal(
        durationS === undefined ? [] : [{ id: 'final', revision: 1, phase: 'teleop', remainingS: durationS }],
      );
    });

  it('keeps the durations over a reload', async () => {
    const page = await FakePage.open();
    page.model.referee.setDuration('auto', '15');
    const again = await FakePage.open({ browser: page.browser });
    expect(again.model.referee.durations.value).to.deep.equal({ auto: '15', teleop: '120' });
  });
});

describe('a stop on the page', () => {
  it('says when and why, and by whom it was asked', async () => {
    const page = await FakePage.open();
    page.daemon.answer('POST', '/api/stop');
    page.daemon.log({ what: 'stop', detail: { why: 'asked' } });
    page.daemon.log({ what: 'stop', who: 'Bob', outcome: 'done' });
    await page.wait(200);
    expect(page.strip).to.match(/Stopped at [\d: -]+ by Bob: gimbal stopped/);
    page.daemon.log({ what: 'stop', detail: { why: 'the referee is silent' } });
    await page.wait(200);
    expect(page.strip).to.match(/Stopped at [\d: -]+ \(the referee is silent\): gimbal stopped/);
  });

  it('names no Resume that is forbidden, and says why it is', async () => {
    const page = await FakePage.open();
    const why = () => whyNoResume(page.model.status.value!);
    page.daemon.answer('POST', '/api/stop');
    await page.wait(200);
    expect(why()).to.equal('');
    expect(page.strip).to.match(/Resume puts both units in manual/);
    page.daemon.units.gimbal = { ...page.daemon.units.gimbal, flags: [], online: false, torque: 'unknown' };
    await page.wait(200);
    expect(why()).to.equal('not confirmed');
    void page.model.referee.set('a', 'pre', null);
    await page.wait(200);
    expect(why()).to.equal('not in pre');
    void page.model.referee.lock('x');
    await page.wait(200);
    expect(why()).to.equal('locked');
    expect(page.strip).to.not.match(/Resume/);
  });
});
