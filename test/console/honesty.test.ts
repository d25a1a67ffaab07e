import { expect } from 'chai';
import { titleOf } from '../../src/console/bar/lines.js';
import { stripLines } from '../../src/console/bar/strip.js';
import { UNIT_STATUS } from '../support/status.js';
import { FakeDaemon } from './fake-daemon.js';
import { FakeBrowser, FakePage } from './fake-page.js';

/** The page must never look safer than the robot is. */
describe('the page', () => {
  const title = ({ model }: FakePage) => titleOf(model.status.value, model.fresh.value, model.laser.mayBeLit);

  it('says, when the daemon falls silent, that a lit laser may be on and that the state of a dark laser is unknown', async () => {
    const page = await FakePage.open();
    page.isDeaf = true;
    await page.wait(900);
    expect(page.strip).to.match(/^bad: No contact since [\d:]+\./);
    expect(title(page)).to.match(/^Laser unknown · No contact/);
    page.isDeaf = false;
    page.daemon.light = 'on';
    await page.wait(200);
    page.isDeaf = true;
    await page.wait(900);
    expect(page.strip).to.match(/^alarm: LASER MAY BE ON: be ready to cut its supply\. It was on when/);
    expect(title(page)).to.match(/LASER MAY BE ON · No contact/);
  });

  it('warns that the laser may be on after an unanswered request for light, until an Off is answered', async () => {
    const page = await FakePage.open();
    page.let(/laser/, 'held');
    void page.model.laser.light();
    page.isDeaf = true;
    await page.wait(900);
    expect(page.strip).to.match(/^alarm: LASER MAY BE ON: .*asked for since/);
    page.mend();
    page.model.laser.darken();
    await page.wait(200);
    page.isDeaf = true;
    await page.wait(900);
    expect(page.strip).not.to.match(/MAY BE ON/);
  });

  it('does not believe reports of a dark laser within 5 s of a lost request for light, but believes later reports', async () => {
    const page = await FakePage.open();
    page.let(/laser/, 'lost');
    void page.model.laser.light();
    await page.wait(4500);
    page.isDeaf = true;
    await page.wait(900);
    expect(page.strip).to.match(/^alarm: LASER MAY BE ON/);
    page.mend();
    await page.wait(6000);
    page.isDeaf = true;
    await page.wait(900);
    expect(page.strip).not.to.match(/MAY BE ON/);
  });

  for (const [name, press] of [
    ['Off', (page: FakePage) => page.model.laser.darken()],
    ['STOP', (page: FakePage) => page.model.pressStop()],
  ] as const) {
    it(`believes that the laser is dark when ${name} is answered while the stream is silent`, async () => {
      const page = await FakePage.open();
      page.daemon.light = 'on';
      await page.wait(100);
      page.isDeaf = true;
      await page.wait(900);
      expect(page.strip).to.match(/LASER MAY BE ON/);
      press(page);
      await page.wait(10);
      expect(page.strip).not.to.match(/MAY BE ON/);
      expect(/STOP of 00:00:01 is confirmed\./.test(page.strip)).to.equal(name === 'STOP');
      page.mend();
      await page.wait(600);
      expect(page.strip).not.to.match(/is confirmed\./);
      page.daemon.answer('POST', '/api/resume');
      await page.wait(200);
      page.isDeaf = true;
      await page.wait(900);
      expect(page.strip).not.to.match(/is confirmed\./);
    });
  }

  it('warns that the laser may be on if light is reported after an Off is sent, even if the Off is answered later', async () => {
    const page = await FakePage.open();
    page.let(/laser/, 'answer held');
    page.model.laser.darken();
    page.daemon.light = 'on';
    await page.wait(200);
    page.sentTo(/laser/)[0]!.deliver();
    page.isDeaf = true;
    await page.wait(900);
    expect(page.strip).to.match(/^alarm: LASER MAY BE ON/);
  });

  it('does not warn of light after the daemon has refused the request for light', async () => {
    const page = await FakePage.open();
    page.refuse(/laser/, 409, 'stopped', 'The robot is stopped.');
    void page.model.laser.light();
    await page.wait(10);
    expect(page.strip).to.match(/Laser The robot is stopped/);
    page.isDeaf = true;
    await page.wait(900);
    expect(page.strip).not.to.match(/MAY BE ON/);
  });
});

describe('a page with an event stream', () => {
  it('does not call data live if the data arrives 2 s late', async () => {
    const page = await FakePage.open();
    page.isDeaf = true;
    await page.wait(2000);
    page.isDeaf = false;
    page.daemon.lateMs = 2000;
    await page.wait(1000);
    expect(page.model.fresh.value).to.equal(false);
    page.daemon.lateMs = 0;
    await page.wait(200);
    expect(page.model.fresh.value).to.equal(true);
  });

  it('closes the stream while the page is hidden, and opens a stream when the page is visible again', async () => {
    const page = await FakePage.open();
    page.model.stream.setHidden(true);
    await page.wait(1000);
    expect([page.daemon.streams.size, page.model.fresh.value]).to.deep.equal([0, false]);
    page.model.stream.setHidden(false);
    await page.wait(200);
    expect([page.daemon.streams.size, page.model.fresh.value]).to.deep.equal([1, true]);
  });

  it('reports a silent stream while requests are answered, and no contact once requests fail', async () => {
    const page = await FakePage.open();
    page.isDeaf = true;
    await page.wait(6000);
    expect(page.model.deafness.value).to.equal('The stream is silent');
    expect(page.strip).to.match(/^bad: The stream is silent\. The page shows the last/);
    page.fate = () => 'failed';
    await page.wait(6000);
    expect(page.strip).to.match(/^bad: No contact since [\d:]+\./);
    page.mend();
    await page.wait(1000);
    expect([page.strip, page.model.deafness.value]).to.deep.equal(['', '']);
  });

  it("shows a loop that the page does not know by the loop's name, and tolerates an unknown unit", async () => {
    const page = await FakePage.open();
    const tune = { id: '1', unit: 'chassis', loop: 'lift', state: 'running', by: 'pit', words: ['begins'] };
    page.daemon.say('tune', { ...tune, unit: 'arm' });
    page.daemon.say('tune', tune);
    page.daemon.shows('gimbal', { excitation: { loop: 'roll', amplitude: 0.1, periodS: 1 } });
    page.daemon.light = 'fault';
    await page.wait(200);
    expect(page.strip).to.match(/^alarm: LASER MAY BE ON: cut its supply/);
    expect(page.strip).to.match(
      /Gimbal moves its roll by ±0\.1 +every 1 s\.\n.*Chassis moves: pit tunes its lift \(begins\)\./,
    );
  });

  it('says from the first status on that the daemon has another version, and keeps an unanswered STOP pending', async () => {
    const page = await FakePage.open({ version: '2' });
    expect(page.strip).to.equal('note: Page is of another version than the daemon: reload it.');
    page.let(/stop/, 'failed');
    page.model.pressStop();
    await page.wait(500);
    expect(page.model.isOwing).to.equal(true);
  });
});

describe('the note that the laser went dark by itself', () => {
  it('is shown in every window until a person dismisses it in one window, and is shown again the next time', async () => {
    const browser = new FakeBrowser();
    const page = await FakePage.open({ browser });
    const { daemon } = page;
    const other = await FakePage.open({ browser, daemon });
    const goDark = async () => {
      daemon.more = { laser: { state: 'off', light: 'dark', reason: 'time limit' } };
      daemon.log({ what: 'laser', detail: { before: 'on', after: 'off', reason: 'time limit' } });
      await page.wait(200);
    };
    const said = /note: Laser went dark at [\d:]+: it was lit for as long as laser\.maxOnS allows\./;
    await goDark();
    for (const one of [page, other]) expect(one.strip).to.match(said);
    stripLines(other.model)
      .find(({ about }) => about === 'Laser')
      ?.answer?.run();
    for (const one of [page, other]) expect(one.strip).not.to.match(said);
    await goDark();
    for (const one of [page, other]) expect(one.strip).to.match(said);
  });
});

describe('the note that another caller made the laser go dark without an Off', () => {
  for (const [what, reason, words] of [
    ['tune', 'tuning', 'Bob began a tuning'],
    ['phase', 'phase without light', 'Bob set a phase that forbids light'],
  ] as const) {
    it(`names the caller and the reason: ${words}`, async () => {
      const page = await FakePage.open();
      page.daemon.more = { laser: { state: 'off', light: 'dark', reason } };
      page.daemon.log({ what: 'laser', detail: { before: 'on', after: 'off', reason } });
      page.daemon.log({ what, who: 'Bob' });
      await page.wait(200);
      expect(page.strip).to.equal(`note: Laser went dark at 00:00:00: ${words}.`);
    });
  }
});

describe('a stop on the page of a caller who may not resume', () => {
  it('is shown without the advice to press Resume', async () => {
    const daemon = new FakeDaemon();
    daemon.session = { ...daemon.session, rights: ['read'] };
    const page = await FakePage.open({ daemon });
    daemon.answer('POST', '/api/stop');
    await page.wait(200);
    expect(page.strip).to.match(/^bad: Stopped: .*the laser is dark\.$/);
  });
});

describe("the alert about a controller's restart", () => {
  const restart = (page: FakePage) => page.daemon.log({ what: 'reset', unit: 'gimbal' });
  const said = /bad: Gimbal restarted 00:00:00, now manual\./;

  it('is shown in every window and after a reload, until a person confirms it in one window', async () => {
    const browser = new FakeBrowser();
    const page = await FakePage.open({ browser });
    const { daemon } = page;
    const other = await FakePage.open({ browser, daemon });
    page.model.stream.setHidden(true);
    restart(page);
    for (const one of [page, other]) expect(one.strip).to.match(/Gimbal restarted/);
    const reloaded = await FakePage.open({ browser, daemon });
    expect(reloaded.strip).to.match(said);
    reloaded.model.log.confirm(reloaded.model.log.restarts.value[0]!);
    for (const one of [page, other, reloaded]) expect(one.strip).not.to.match(/restarted/);
  });

  it("is still shown on a reloaded page after the daemon has restarted and has forgotten the controller's restart", async () => {
    const browser = new FakeBrowser();
    const page = await FakePage.open({ browser });
    restart(page);
    const later = await FakePage.open({ browser, daemon: new FakeDaemon(page.clock) });
    expect(later.strip).to.match(said);
  });

  it('is shown if the restart happens while the page loads a log with an older restart', async () => {
    const browser = new FakeBrowser();
    const page = await FakePage.open({ browser });
    restart(page);
    page.model.log.confirm(page.model.log.restarts.value[0]!);
    page.let(/api.log/, 'answer held');
    page.model.stream.setHidden(true);
    page.model.stream.setHidden(false);
    await page.wait(200);
    restart(page);
    page
      .sentTo(/api.log/, 'GET')
      .at(-1)!
      .deliver();
    await page.wait(10);
    expect(page.strip).to.match(/Gimbal restarted/);
    expect(page.model.log.events.value).to.have.length(2);
  });

  it('does not hide other alerts if the browser has stored a restart of an unknown unit, and a text that is not JSON', async () => {
    const browser = new FakeBrowser();
    browser.items.set(
      'trunnion.restarts',
      '[{"seq":1,"at":"2026-11-21T10:00:00.000Z","what":"reset","unit":"arm"}]',
    );
    browser.items.set('trunnion.noted', 'no JSON');
    const page = await FakePage.open({ browser });
    page.daemon.stopped = true;
    await page.wait(200);
    expect(page.strip).to.match(/^alarm: Gimbal NOT CONFIRMED/);
  });
});

describe('the alert about a restart of the daemon', () => {
  const open = async () => {
    const browser = new FakeBrowser();
    const page = await FakePage.open({ browser });
    return { browser, page };
  };
  const restart = async (page: FakePage) => {
    page.isDeaf = true;
    await page.wait(4500);
    page.daemon.restart();
    page.isDeaf = false;
    await page.wait(1000);
  };
  const marks = ({ model }: FakePage) => model.telemetry.marks.map(({ text }) => text);

  it('says what changed, and disappears from all windows when a person confirms it in one window', async () => {
    const { browser, page } = await open();
    const { daemon } = page;
    const other = await FakePage.open({ browser, daemon });
    daemon.light = 'on';
    daemon.shows('gimbal', { mode: 'auto' });
    await page.wait(200);
    other.model.stream.setHidden(true);
    await restart(page);
    const said = 'The daemon restarted 00:00:00: laser on to dark, gimbal auto to manual';
    expect(page.strip).to.equal(`bad: ${said}.`);
    expect(marks(page).at(-1)).to.equal(said);
    expect(page.model.telemetry.marks.at(-1)?.t).to.be.within(5, 6);
    stripLines(page.model)[0]?.answer?.run();
    other.model.stream.setHidden(false);
    await page.wait(300);
    const reloaded = await FakePage.open({ browser, daemon });
    expect([page.strip, other.strip, reloaded.strip]).to.deep.equal(['', '', '']);
  });

  it('is still shown after a reload, and says that test steps and a trial have ended', async () => {
    const { browser, page } = await open();
    const { daemon } = page;
    const excitation = { loop: 'speed', amplitude: 0.1, periodS: 1 };
    const trial = { id: 'a', by: 'lab', endsAtT: 1e6, gains: {} };
    daemon.shows('chassis', { mode: 'debug', excitation, gains: { ...UNIT_STATUS.gains, trial } });
    await page.wait(200);
    await restart(page);
    const reloaded = await FakePage.open({ browser, daemon });
    for (const one of [page, reloaded])
      expect(one.strip).to.equal(
        'bad: The daemon restarted 00:00:00: chassis debug to manual, chassis test steps ended, chassis trial ended.',
      );
  });

  it('lists no changes if nothing changed, and is not shown if only the contact was lost', async () => {
    const { page } = await open();
    page.isDeaf = true;
    await page.wait(4500);
    page.isDeaf = false;
    await page.wait(1000);
    expect(page.strip).to.equal('');
    await restart(page);
    expect(page.strip).to.equal('bad: The daemon restarted 00:00:00.');
  });
});

describe('test steps that ended early', () => {
  const open = async (why: string) => {
    const page = await FakePage.open();
    page.daemon.log({
      what: 'excitation',
      unit: 'gimbal',
      detail: { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 },
    });
    page.daemon.log({ what: 'excitation', unit: 'gimbal', detail: { amplitude: 0, why } });
    await page.wait(200);
    return page;
  };

  for (const [why, words] of [
    ['offline', 'was offline'],
    ['no torque', 'had no torque'],
  ] as const) {
    it(`are reported with the reason "gimbal ${words}", until a person confirms the note`, async () => {
      const page = await open(why);
      expect(page.strip).to.equal(`note: Test steps ended 00:00:00: gimbal ${words}.`);
      stripLines(page.model)[0]?.answer?.run();
      expect(page.strip).to.equal('');
    });
  }

  it('are not reported while the unit is offline, and not after new test steps have begun', async () => {
    const page = await open('offline');
    page.daemon.shows('gimbal', { online: false });
    await page.wait(200);
    expect(page.strip).to.equal('bad: Gimbal is offline. ');
    page.daemon.shows('gimbal', { online: true });
    page.daemon.log({
      what: 'excitation',
      unit: 'gimbal',
      detail: { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 },
    });
    await page.wait(200);
    expect(page.strip).to.equal('');
  });

  it('are not reported if a stop ended them', async () => {
    const page = await open('stop');
    expect(page.strip).to.equal('');
  });
});
