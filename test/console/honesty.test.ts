import { expect } from 'chai';
import { titleOf } from '../../src/console/bar/lines.js';
import { stripLines } from '../../src/console/bar/strip.js';
import { CALLERS } from '../support/callers.js';
import { FakeBrowser, FakePage, servedPage } from './fake-page.js';
import { ServingDaemon } from './page-daemon.js';

let page: FakePage<ServingDaemon>;
const open = async () => {
  page = await servedPage();
};

const lightOn = () => page.daemon.ask('POST /api/laser', { action: 'on' });

/** The page must never look safer than the robot is. */
describe('the page', () => {
  beforeEach(open);

  const title = () => {
    const { status, fresh, laser } = page.model;
    return titleOf(status.value, fresh.value, laser.mayBeLit);
  };

  it('shows "LASER MAY BE ON" if contact is lost while the laser is on, and "Laser unknown" if contact is lost while the laser is dark', async () => {
    await page.loseContact();
    expect(page.strip).to.match(/^bad: No contact since [\d:]+\./);
    expect(title()).to.match(/^Laser unknown · No contact/);
    page.isDeaf = false;
    await lightOn();
    await page.wait(200);
    await page.loseContact();
    expect(page.strip).to.match(/^alarm: LASER MAY BE ON: be ready to cut its supply\. It was on when/);
    expect(title()).to.match(/LASER MAY BE ON · No contact/);
  });

  it('shows "LASER MAY BE ON" if contact is lost after an unanswered request to switch the laser on, but not once "Off" is answered', async () => {
    page.let(/laser/, 'held');
    void page.model.laser.light();
    await page.loseContact();
    expect(page.strip).to.match(/^alarm: LASER MAY BE ON: .*asked for since/);
    page.mend();
    page.model.laser.darken();
    await page.wait(200);
    await page.loseContact();
    expect(page.strip).not.to.match(/MAY BE ON/);
  });

  it('shows "LASER MAY BE ON" if contact is lost within 5 s after an unanswered request to switch the laser on, but not if it is lost later', async () => {
    page.let(/laser/, 'lost');
    void page.model.laser.light();
    await page.wait(4900);
    await page.loseContact();
    expect(page.strip).to.match(/^alarm: LASER MAY BE ON/);
    page.mend();
    await page.wait(200);
    await page.loseContact();
    expect(page.strip).not.to.match(/MAY BE ON/);
  });

  for (const [name, press] of [
    ['Off', () => page.model.laser.darken()],
    ['STOP', () => page.model.pressStop()],
  ] as const) {
    it(`removes the warning "LASER MAY BE ON" once a press of "${name}" is answered, even if the event stream stays silent`, async () => {
      await lightOn();
      await page.wait(100);
      await page.loseContact();
      expect(page.strip).to.match(/LASER MAY BE ON/);
      press();
      await page.wait(50);
      expect(page.strip).not.to.match(/MAY BE ON/);
      expect(/STOP of [\d:]+ is confirmed\./.test(page.strip)).to.equal(name === 'STOP');
      page.mend();
      await page.wait(600);
      expect(page.strip).not.to.match(/is confirmed\./);
      await page.daemon.askAndWait('POST /api/resume');
      await page.loseContact();
      expect(page.strip).not.to.match(/is confirmed\./);
    });
  }

  it('shows "LASER MAY BE ON" if contact is lost after an "On" of another caller, even if the answer to an earlier "Off" arrives after that "On"', async () => {
    page.let(/laser/, 'answer held');
    page.model.laser.darken();
    await lightOn();
    await page.wait(200);
    page.sentTo(/laser/)[0]!.deliver();
    await page.loseContact();
    expect(page.strip).to.match(/^alarm: LASER MAY BE ON/);
  });

  it('does not show "LASER MAY BE ON" if contact is lost after the daemon has refused to switch the laser on', async () => {
    page.refuse(/laser/, 409, 'stopped', 'The robot is stopped.');
    void page.model.laser.light();
    await page.wait(10);
    expect(page.strip).to.match(/Laser: The robot is stopped/);
    await page.loseContact();
    expect(page.strip).not.to.match(/MAY BE ON/);
  });
});

describe('an open page', () => {
  beforeEach(open);

  const streams = async (): Promise<number> => (await page.daemon.status()).streams;

  it('treats its data as stale while the data arrives 2 s late, and as current again once the data arrives in time', async () => {
    page.lateMs = 2000;
    await page.wait(2000);
    const { count } = page.model.telemetry;
    await page.wait(1000);
    expect(page.model.telemetry.count).to.be.greaterThan(count);
    expect(page.model.fresh.value).to.equal(false);
    page.lateMs = 0;
    await page.wait(2200);
    expect(page.model.fresh.value).to.equal(true);
  });

  it('closes its event stream when the page is hidden, and opens a new one when the page is visible again', async () => {
    page.model.stream.setHidden(true);
    await page.wait(1000);
    expect([await streams(), page.model.fresh.value]).to.deep.equal([0, false]);
    page.model.stream.setHidden(false);
    await page.wait(200);
    expect([await streams(), page.model.fresh.value]).to.deep.equal([1, true]);
  });

  it('says “The stream is silent” if only the event stream fails, and “No contact” if requests fail too', async () => {
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

  it('still shows the laser alarm and which units move if the daemon names a loop or a unit unknown to the page', async () => {
    const fake = await FakePage.open();
    const tune = { id: '1', unit: 'chassis', loop: 'lift', state: 'running', by: 'pit', words: ['begins'] };
    fake.daemon.say('tune', { ...tune, unit: 'arm' });
    fake.daemon.say('tune', tune);
    fake.daemon.shows('gimbal', { excitation: { loop: 'roll', amplitude: 0.1, periodS: 1 } });
    fake.daemon.light = 'fault';
    await fake.wait(200);
    expect(fake.strip).to.match(/^alarm: LASER MAY BE ON: cut its supply/);
    expect(fake.strip).to.match(
      /Gimbal moves its roll by ±0\.1 +every 1 s\.\n.*Chassis moves: pit tunes its lift \(begins\)\./,
    );
  });

  it('asks to be reloaded if the daemon has another version, but does not drop an unanswered STOP', async () => {
    page = await FakePage.of(await ServingDaemon.start(), { version: '2' });
    expect(page.strip).to.equal('note: Page is of another version than the daemon: reload it.');
    page.let(/stop/, 'failed');
    page.model.pressStop();
    await page.wait(500);
    expect(page.model.isOwing).to.equal(true);
  });

  it('treats its data as stale from the moment when it is hidden until new data arrives, even if its clock stood still meanwhile', async () => {
    const page = await servedPage();
    const { stream, fresh } = page.model;
    stream.setHidden(true);
    expect(fresh.value).to.equal(false);
    page.isDeaf = true;
    stream.setHidden(false);
    await page.wait(100);
    expect(fresh.value).to.equal(false);
    page.isDeaf = false;
    await page.wait(200);
    expect(fresh.value).to.equal(true);
  });
});

describe('each time the limit `laser.maxOnS` switches the laser off,', () => {
  it('a note is shown in all windows until a person dismisses the note in one window', async () => {
    page = await servedPage({ config: { laser: { maxOnS: 1 } } });
    const other = await page.another();
    const goDark = async () => {
      await lightOn();
      await page.wait(1500);
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

describe("if another caller's request switches the laser off, the page", () => {
  for (const [path, body, words] of [
    ['gimbal/autotune', { loops: ['angle_yaw'] }, 'rival began a tuning'],
    ['match', { phase: 'ended', id: 'final', revision: 1 }, 'referee set a phase that forbids light'],
  ] as const) {
    it(`says who did what: "${words}"`, async () => {
      page = await servedPage({ tokens: true });
      await page.during(page.model.access.enter(CALLERS.spectator.secret));
      const by = words.split(' ')[0];
      await page.daemon.ask('POST /api/gimbal/mode/switch', { mode: 'debug' }, 'operator');
      await page.daemon.ask('POST /api/laser', { action: 'on' }, 'operator');
      await page.daemon.askAndWait(`POST /api/${path}`, body, by);
      expect(page.strip).to.match(new RegExp(`note: Laser went dark at [\\d:]+: ${words}\\.`));
    });
  }
});

describe('if the user of the page has no right to resume the robot, the page', () => {
  it('shows a stop without the advice to press "Resume"', async () => {
    page = await servedPage({ tokens: true });
    await page.during(page.model.access.enter(CALLERS.spectator.secret));
    await page.daemon.askAndWait('POST /api/stop');
    expect(page.strip).to.match(/^bad: Stopped at .*the laser is dark\.$/);
  });
});

describe("the alert about a controller's restart", () => {
  beforeEach(open);

  const restart = () => page.daemon.askAndWait('POST /sim/faults', { target: 'gimbal', fault: 'brownout' });
  const said = /bad: Gimbal restarted [\d:]+, now manual\./;

  it('is shown in every window, also after a reload of the page, until a person confirms it in one window', async () => {
    const other = await page.another();
    page.model.stream.setHidden(true);
    await restart();
    for (const one of [page, other]) expect(one.strip).to.match(/Gimbal restarted/);
    const reloaded = await page.another();
    expect(reloaded.strip).to.match(said);
    reloaded.model.log.confirm(reloaded.model.log.restarts.value[0]!);
    for (const one of [page, other, reloaded]) expect(one.strip).not.to.match(/restarted/);
  });

  it('is still shown on a reloaded page even if the daemon has restarted with a new event log', async () => {
    await restart();
    await page.daemon.becomes({});
    const later = await page.another();
    expect(later.strip).to.match(said);
  });

  it('is still shown if an older copy of the event log, without this restart, arrives afterwards', async () => {
    await restart();
    page.model.log.confirm(page.model.log.restarts.value[0]!);
    page.let(/api.log/, 'answer held');
    page.model.stream.setHidden(true);
    page.model.stream.setHidden(false);
    await page.wait(200);
    await restart();
    page
      .sentTo(/api.log/, 'GET')
      .at(-1)!
      .deliver();
    await page.wait(10);
    expect(page.strip).to.match(/Gimbal restarted/);
    expect(page.model.log.events.value.filter(({ what }) => what === 'reset')).to.have.length(2);
  });

  const SLOW_SILENCE = { supervision: { hostSilenceMs: 10_000 } };

  it("leaves the alarm about an unconfirmed stop visible if the data about restarts in the browser's storage is invalid", async () => {
    const browser = new FakeBrowser();
    browser.items.set(
      'trunnion.restarts',
      '[{"seq":1,"at":"2026-11-21T10:00:00.000Z","what":"reset","unit":"arm"}]',
    );
    browser.items.set('trunnion.noted', 'no JSON');
    page = await FakePage.of(await ServingDaemon.start({ config: SLOW_SILENCE }), { browser });
    await page.daemon.ask('POST /sim/faults', { target: 'gimbal', fault: 'unplug' });
    await page.daemon.askAndWait('POST /api/stop');
    expect(page.strip).to.match(/^alarm: Gimbal NOT CONFIRMED/);
  });
});

describe('the alert about a restart of the daemon', () => {
  beforeEach(open);

  const restart = async () => {
    page.isDeaf = true;
    await page.wait(4500);
    await page.daemon.becomes({});
    page.isDeaf = false;
    await page.wait(1000);
  };
  const marks = () => page.model.telemetry.marks.map(({ text }) => text);

  it('says what the restart changed, and disappears from all windows when a person confirms it in one window', async () => {
    const { daemon } = page;
    const other = await page.another();
    await lightOn();
    await daemon.askAndWait('POST /api/gimbal/mode/switch', { mode: 'auto' });
    other.model.stream.setHidden(true);
    const restartS = page.clock.nowMs() / 1000;
    await restart();
    const said = /The daemon restarted [\d:]+: laser on → dark, gimbal auto → manual/;
    expect(page.strip).to.match(said);
    expect(marks().at(-1)).to.match(said);
    expect(page.model.telemetry.marks.at(-1)?.t).to.be.within(restartS + 4.5, page.clock.nowMs() / 1000);
    stripLines(page.model)[0]?.answer?.run();
    other.model.stream.setHidden(false);
    await page.wait(300);
    const reloaded = await page.another();
    expect([page.strip, other.strip, reloaded.strip]).to.deep.equal(['', '', '']);
  });

  it('says that the restart ended test steps and a trial, even after a reload of the page', async () => {
    const { daemon } = page;
    await daemon.ask('POST /api/chassis/mode/switch', { mode: 'debug' });
    await daemon.ask('POST /api/chassis/excitation', { loop: 'speed', amplitude: 0.1, periodS: 1 });
    const gains = await daemon.gains('chassis');
    await daemon.askAndWait('POST /api/chassis/pidconfig/trial', { gains, leaseS: 5 });
    await restart();
    const reloaded = await page.another();
    for (const one of [page, reloaded])
      expect(one.strip).to.match(
        /bad: The daemon restarted [\d:]+: chassis debug → manual, chassis test steps ended, chassis trial ended\./,
      );
  });

  it('is shown even if the restart changed nothing, but not if the page only lost contact', async () => {
    page.isDeaf = true;
    await page.wait(4500);
    page.isDeaf = false;
    await page.wait(1000);
    expect(page.strip).to.equal('');
    await restart();
    expect(page.strip).to.match(/^bad: The daemon restarted [\d:]+\.$/);
  });

  for (const lost of ['refused', 'lost'] as const)
    it(`is shown with what the restart changed even if the first requests for the event log are ${lost}`, async () => {
      await lightOn();
      await page.wait(200);
      if (lost === 'lost') page.let(/api.log/, 'lost');
      else page.refuse(/api.log/, 503, 'storage-failed');
      await restart();
      await page.wait(3000);
      // The page shows this live, so it is not what the restart changed.
      await page.daemon.ask('POST /api/gimbal/mode/switch', { mode: 'auto' });
      await page.wait(200);
      page.model.stream.setHidden(true);
      await page.wait(200);
      page.model.stream.setHidden(false);
      await page.wait(3000);
      expect(page.strip).not.to.match(/restarted/);
      page.mend();
      page.override = () => undefined;
      await page.wait(6000);
      expect(page.strip).to.match(/^bad: The daemon restarted [\d:]+: laser on → dark\.$/);
      expect(marks().filter(text => /restarted/.test(text))).to.have.length(1);
    });

  it('says what the restart changed even if the page slept over it, and had no answer from the event log since an earlier loss of contact', async () => {
    const { stream } = page.model;
    await lightOn();
    await page.daemon.askAndWait('POST /api/gimbal/mode/switch', { mode: 'auto' });
    page.let(/api.log/, 'lost');
    for (const isHidden of [true, false]) {
      stream.setHidden(isHidden);
      await page.wait(1000);
    }
    stream.setHidden(true);
    await page.daemon.becomes({});
    await page.wait(8000);
    page.behindMs = 8000;
    page.mend();
    stream.setHidden(false);
    await page.wait(3000);
    expect(page.strip).to.match(/restarted [\d:]+: laser on → dark, gimbal auto → manual\.$/);
  });
});

describe('the note about test steps that ended early', () => {
  beforeEach(open);

  const begin = async () => {
    await page.daemon.ask('POST /api/gimbal/mode/switch', { mode: 'debug' });
    await page.daemon.ask('POST /api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 });
  };
  const fault = async (name: 'unplug' | 'plug') => {
    await page.daemon.ask('POST /sim/faults', { target: 'gimbal', fault: name });
    await page.wait(1000);
  };

  it('says "gimbal had no torque" if the gimbal had no torque, and stays until a person confirms the note', async () => {
    const fake = await FakePage.open();
    fake.daemon.log({ what: 'excitation', unit: 'gimbal', detail: { amplitude: 0, why: 'no torque' } });
    expect(fake.strip).to.match(/note: Test steps ended [\d:]+: gimbal had no torque\./);
    stripLines(fake.model)[0]?.answer?.run();
    expect(fake.strip).not.to.match(/Test steps ended/);
  });

  it('appears, if the gimbal went offline, only when the gimbal is online again, and disappears when new test steps begin', async () => {
    await begin();
    await fault('unplug');
    expect(page.strip)
      .to.match(/Gimbal is offline/)
      .and.not.to.match(/Test steps ended/);
    await fault('plug');
    expect(page.strip).to.match(/note: Test steps ended [\d:]+: gimbal was offline\./);
    await begin();
    await page.wait(200);
    expect(page.strip).not.to.match(/Test steps ended/);
  });

  it('does not appear if a stop ended the test steps', async () => {
    await begin();
    await page.daemon.ask('POST /api/stop');
    await page.daemon.askAndWait('POST /api/resume');
    expect(page.strip).not.to.match(/Test steps ended/);
  });
});
