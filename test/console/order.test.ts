import { expect } from 'chai';
import { holdLines } from '../../src/console/bar/held-lines.js';
import { stripLines, wellText } from '../../src/console/bar/strip.js';
import { NO_MATCH_STATUS } from '../support/status.js';
import { FakePage, servedPage } from './fake-page.js';
import type { ServingDaemon } from './page-daemon.js';

let page: FakePage<ServingDaemon>;
const open = async () => {
  page = await servedPage();
};

const isStopped = async (): Promise<boolean> => (await page.daemon.status()).stopped;
const light = async (): Promise<string> => (await page.daemon.status()).laser.light;

describe('pressing', () => {
  beforeEach(open);

  it('“STOP” cancels an unanswered “Resume”, and the page shows no error message', async () => {
    await page.daemon.ask('POST /api/stop');
    await page.wait(100);
    page.let(/resume/, 'held');
    void page.model.resume();
    page.model.pressStop();
    await page.wait(10);
    const [resume] = page.sentTo(/resume/);
    resume!.deliver();
    await page.wait(200);
    expect([resume!.isTakenBack, await isStopped()]).to.deep.equal([true, true]);
    expect(page.model.resuming.pending.value).to.equal(false);
    expect(page.strip)
      .to.match(/^bad: Stopped/)
      .and.not.to.match(/Resume (?!puts)/);
  });

  for (const [by, press] of [
    ['Off', () => page.model.laser.darken()],
    ['STOP', () => page.model.pressStop()],
  ] as const) {
    it(`“${by}” cancels an unanswered request to switch the laser on`, async () => {
      page.fate = ({ body }) => (body?.action === 'on' ? 'held' : 'delivered');
      void page.model.laser.light();
      press();
      await page.wait(10);
      page.sentTo(/laser/)[0]!.deliver();
      expect(await light()).to.equal('dark');
    });
  }

  it('“On” cancels an unanswered “Off”, so that “Off” is no longer retried', async () => {
    page.fate = ({ body }) => (body?.action === 'off' ? 'held' : 'delivered');
    page.model.laser.darken();
    await page.wait(350);
    void page.model.laser.light();
    await page.wait(3000);
    const offs = page.sentTo(/laser/).filter(one => one.body.action === 'off');
    for (const off of offs) off.deliver();
    expect([offs.length, await light(), page.model.isOwing]).to.deep.equal([2, 'on', false]);
  });

  it('a mode button cancels an unanswered switch to another mode', async () => {
    page.fate = ({ body }) => (body?.mode === 'auto' ? 'held' : 'delivered');
    void page.model.switchMode('chassis', 'auto');
    void page.model.switchMode('chassis', 'debug');
    await page.wait(10);
    page.sentTo(/mode/)[0]!.deliver();
    expect((await page.daemon.status()).chassis.mode).to.equal('debug');
  });

  it('“STOP” once stops the robot only once, even if a delayed copy of the request arrives after a resume', async () => {
    page.fate = ({ path }) => (/stop/.test(path) && page.sentTo(/stop/).length === 1 ? 'held' : 'delivered');
    page.model.pressStop();
    await page.wait(500);
    // Somebody else resumes.
    await page.daemon.ask('POST /api/resume');
    page.sentTo(/stop/)[0]!.deliver();
    expect([page.sentTo(/stop/).length, await isStopped()]).to.deep.equal([2, false]);
  });
});

describe('a press of “STOP” on the page', () => {
  beforeEach(open);

  it('sends its own request, and neither a later press nor the answer to an earlier press cancels that request', async () => {
    page.let(/stop/, 'held');
    for (let press = 0; press < 3; press += 1) {
      page.model.pressStop();
      await page.wait(200);
    }
    expect(page.sentTo(/stop/).map(one => one.isTakenBack)).to.deep.equal([false, false, false]);
    page.sentTo(/stop/)[0]!.deliver();
    await page.wait(60);
    expect(page.sentTo(/stop/).map(one => one.isTakenBack)).to.deep.equal([false, false, false]);
  });

  it('is retried after about 300 ms, and then again and again until the daemon answers, even for longer than a minute', async () => {
    page.let(/stop/, 'failed');
    page.model.pressStop();
    await page.wait(250);
    expect(page.strip).not.to.match(/STOP/);
    await page.wait(100);
    expect(page.sentTo(/stop/)).to.have.length(2);
    expect(page.strip).to.match(/^alarm: STOP sent, asking again… Be ready to cut the power\./);
    await page.wait(12_000);
    expect(page.strip).to.match(/^alarm: STOP is not confirmed\. Be ready .* does not answer/);
    const before = page.sentTo(/stop/).length;
    await page.wait(61_000);
    expect(page.sentTo(/stop/).length).to.be.greaterThan(before + 25);
    expect([await isStopped(), page.model.isOwing]).to.deep.equal([false, true]);
    page.mend();
    await page.wait(2000);
    expect([await isStopped(), page.model.isOwing]).to.deep.equal([true, false]);
    expect(page.strip).to.match(/^bad: Stopped/);
  });

  it('during a network failure stops the robot within 600 ms after the network is up again', async () => {
    page.cut();
    page.model.pressStop();
    await page.wait(20_000);
    const before = page.sentTo(/stop/).length;
    page.mend();
    await page.wait(600);
    expect([await isStopped(), page.sentTo(/stop/).length - before <= 2]).to.deep.equal([true, true]);
  });

  it('blocks laser “On”, auto mode, test steps and “Try” while the press is unanswered, but not “Off”, manual mode or “Resume”', async () => {
    page.let(/stop/, 'failed');
    page.edit('chassis', '/speed/kp', '20');
    page.model.pressStop();
    await page.wait(15_000);
    expect(page.model.isStopping).to.equal(true);
    await page.during(page.model.switchMode('chassis', 'auto'));
    void page.model.laser.light();
    void page.model.excite({ unit: 'chassis', loop: 'speed' }, 0.1, 1);
    await page.during(page.model.gains.chassis.try());
    await page.wait(10);
    expect(page.sentTo(/mode|laser|excitation|trial/)).to.deep.equal([]);
    await page.during(page.model.switchMode('chassis', 'manual'));
    page.model.laser.darken();
    expect(page.sentTo(/mode|laser/)).to.have.length(2);
    await page.during(page.model.resume());
    await page.wait(5000);
    expect([page.model.isStopping, await isStopped()]).to.deep.equal([false, false]);
    expect(page.strip).not.to.match(/STOP/);
  });

  it('does not stop the robot if the request arrives only after a later “Resume” was answered', async () => {
    page.let(/stop/, 'held');
    page.model.pressStop();
    await page.wait(400);
    await page.during(page.model.resume());
    for (const request of page.sentTo(/stop/)) request.deliver();
    expect([page.sentTo(/stop/).length, await isStopped()]).to.deep.equal([2, false]);
  });

  it('cancels an unanswered “Try”, and also a second “Try” that waits for the first', async () => {
    const { chassis } = page.model.gains;
    page.let(/trial/, 'held');
    page.edit('chassis', '/speed/kp', '20');
    void chassis.try();
    await page.wait(10);
    page.edit('chassis', '/speed/kp', '21');
    void chassis.try();
    page.model.pressStop();
    await page.wait(10);
    expect(page.sentTo(/trial/).map(one => one.isTakenBack)).to.deep.equal([true]);
  });

  it('is retried even if the daemon answers an earlier press of “STOP”', async () => {
    page.fate = ({ path }) =>
      /stop/.test(path) ? (page.sentTo(/stop/).length === 1 ? 'answer held' : 'lost') : 'delivered';
    page.isDeaf = true;
    page.model.pressStop();
    await page.wait(100);
    await page.daemon.ask('POST /api/resume');
    page.model.pressStop();
    page.sentTo(/stop/)[0]!.deliver();
    await page.wait(10);
    expect(page.model.isOwing).to.equal(true);
    page.fate = () => 'delivered';
    await page.wait(600);
    expect([page.model.isOwing, await isStopped()]).to.deep.equal([false, true]);
    await page.wait(400);
    expect(page.strip).to.match(/STOP of [\d:]+ is confirmed\./);
  });

  it('is no longer shown as “not confirmed” once another caller has resumed the robot, even if the page was hidden while the robot was stopped', async () => {
    page.refuse(/stop/, 503, 'not-confirmed', 'The gimbal did not confirm.');
    page.model.pressStop();
    await page.wait(100);
    page.model.stream.setHidden(true);
    await page.daemon.ask('POST /api/stop');
    await page.daemon.ask('POST /api/resume');
    page.model.stream.setHidden(false);
    await page.wait(200);
    expect(page.strip).to.equal('');
  });

  it('is shown as “not confirmed” if the daemon cannot confirm the stop, even after a daemon restart, until another caller stops and resumes the robot', async () => {
    page.refuse(/stop/, 503, 'not-confirmed', 'The gimbal did not confirm.');
    page.model.pressStop();
    await page.wait(1000);
    expect(page.strip).to.match(/^alarm: STOP is not confirmed\. .*The gimbal did not confirm\./);
    expect([page.sentTo(/stop/).length, page.model.isOwing]).to.deep.equal([1, true]);
    await page.daemon.becomes({});
    await page.wait(6000);
    expect(page.strip).to.match(/STOP is not confirmed/);
    await page.daemon.askAndWait('POST /api/stop');
    await page.daemon.askAndWait('POST /api/resume');
    expect(page.strip).not.to.match(/not confirmed/);
  });

  for (const answeredMs of [5000, 9000])
    it(`counts as answered within half a minute on a network whose answers take ${answeredMs / 1000} s`, async () => {
      page.fate = one => {
        if (!/stop/.test(one.path)) return 'delivered';
        page.clock.after(answeredMs, () => one.deliver());
        return 'answer held';
      };
      page.model.pressStop();
      await page.wait(30_000);
      expect([page.model.isOwing, await isStopped()]).to.deep.equal([false, true]);
    });
});

describe('a press of “Off” on the page', () => {
  beforeEach(open);

  const expired = /bad: Laser Off of [\d:]+ was not answered\. Press it again if it is still wanted\./;

  it('during a network failure is retried, and turns the laser off when the network is up again', async () => {
    await page.daemon.ask('POST /api/laser', { action: 'on' });
    await page.wait(100);
    page.cut();
    page.model.laser.darken();
    await page.wait(10_000);
    expect(page.strip).to.match(/bad: Laser Off sent, asking again…/);
    expect(page.model.isOwing).to.equal(true);
    page.mend();
    await page.wait(1000);
    expect([await light(), page.model.isOwing, page.strip]).to.deep.equal(['dark', false, '']);
  });

  it('is retried for at most a minute, and is then shown as unanswered until the daemon reports a dark laser', async () => {
    page.cut();
    page.model.laser.darken();
    await page.wait(59_000);
    expect(page.strip).to.match(/asking again/);
    await page.wait(2000);
    expect(page.strip).to.match(expired);
    expect(page.model.isOwing).to.equal(false);
    await page.daemon.ask('POST /api/laser', { action: 'on' });
    const before = page.sentTo(/laser/).length;
    page.mend();
    await page.wait(2000);
    expect([await light(), page.sentTo(/laser/).length - before]).to.deep.equal(['on', 0]);
    expect(page.strip).to.match(expired);
    await page.daemon.askAndWait('POST /api/laser', { action: 'off' });
    expect(page.strip).to.equal('');
  });

  for (const sleptMs of [1_200_000, -1_200_000]) {
    it(`is not retried after the operator's device has slept and the wall clock has jumped ${sleptMs > 0 ? 'forward' : 'back'} by 20 minutes`, async () => {
      page.cut();
      page.model.laser.darken();
      await page.wait(1000);
      page.sleptMs = sleptMs;
      const before = page.sentTo(/laser/).length;
      await page.wait(1000);
      expect([page.sentTo(/laser/).length - before, page.model.isOwing]).to.deep.equal([0, false]);
      expect(page.strip).to.match(/Laser Off of .*00:00:00 was not answered/);
      page.mend();
      void page.model.laser.light();
      await page.wait(1000);
      expect([await light(), page.strip]).to.deep.equal(['on', '']);
    });
  }

  it("after another caller's “On” is retried even if the answer to an earlier “Off” arrives", async () => {
    page.fate = ({ body }) =>
      body?.action === 'off' ? (page.sentTo(/laser/).length === 1 ? 'answer held' : 'lost') : 'delivered';
    page.model.laser.darken();
    await page.wait(100);
    await page.daemon.ask('POST /api/laser', { action: 'on' });
    await page.wait(100);
    page.model.laser.darken();
    page.sentTo(/laser/)[0]!.deliver();
    await page.wait(100);
    expect(page.model.isOwing).to.equal(true);
    page.mend();
    await page.wait(600);
    expect([page.model.isOwing, await light()]).to.deep.equal([false, 'dark']);
  });
});

describe('the message about a failed request', () => {
  beforeEach(open);

  it('disappears after ten seconds, or when the same request succeeds', async () => {
    page.refuse(/mode/, 409, 'unit-busy', 'Busy.');
    await page.during(page.model.switchMode('chassis', 'auto'));
    expect(page.strip).to.equal('bad: Chassis mode: Busy.');
    await page.wait(10_000);
    expect(page.strip).to.equal('');
    await page.during(page.model.switchMode('chassis', 'auto'));
    page.override = () => undefined;
    await page.during(page.model.switchMode('chassis', 'auto'));
    expect(page.strip).to.equal('');
  });

  it('appears if the daemon does not answer within four seconds', async () => {
    page.let(/mode/, 'lost');
    void page.model.switchMode('chassis', 'auto');
    page.isDeaf = true;
    await page.wait(3900);
    expect(page.strip).not.to.match(/Chassis mode/);
    await page.wait(200);
    expect(page.strip).to.match(/Chassis mode: The daemon does not answer/);
  });

  it('disappears when the reason for the failure is gone: the unit is online again, the robot is resumed, or the daemon answers again', async () => {
    const refused = () => page.during(page.model.switchMode('chassis', 'auto'));
    const fault = async (fault: string) => {
      await page.daemon.ask('POST /sim/faults', { target: 'chassis', fault });
      await page.wait(1500);
    };
    await fault('unplug');
    await refused();
    expect(page.strip).to.match(/Chassis mode: .*offline/);
    await fault('plug');
    expect(page.strip).to.equal('');
    await page.daemon.askAndWait('POST /api/stop');
    await refused();
    expect(page.strip).to.match(/Chassis mode: The robot is stopped/);
    await page.daemon.askAndWait('POST /api/resume');
    expect(page.strip).to.equal('');
    page.let(/mode/, 'failed');
    await page.during(page.model.switchMode('chassis', 'auto'));
    expect(page.strip).to.match(/Chassis mode: The daemon does not answer/);
    await page.daemon.ask('POST /api/laser', { action: 'on' });
    expect(page.strip).to.equal('');
  });
});

describe('the alerts of the page', () => {
  it('are one alert about the storage if a full disk keeps gains, events, lock and phase from being stored', async () => {
    const fake = await FakePage.open();
    fake.refuse(/POST .*pidconfig$/, 503, 'storage-failed', 'Refused.');
    fake.edit('gimbal', '/angle_yaw/kp', '200');
    await fake.model.gains.gimbal.save();
    expect(fake.strip).to.equal('bad: Gimbal gains: Refused.');
    const full = { ok: false, detail: 'The disk is full.', cure: 'Make room.' };
    const match = { ...NO_MATCH_STATUS, recorded: false };
    fake.daemon.more = { storage: { ...full, setAside: [] }, log: full, match };
    await fake.wait(200);
    expect(fake.strip).to.equal(
      'bad: Storage cannot keep over a power cut: gains, events, lock and phase. The disk is full. Make room.',
    );
  });

  it('are one alert about the list of tokens, even if a login was refused because that list is damaged', async () => {
    const fake = await FakePage.open();
    const detail = 'The list of tokens is damaged.';
    fake.refuse(/POST .*session$/, 503, 'access-unavailable', detail);
    await fake.during(fake.model.access.enter('token'));
    expect(fake.strip).to.equal(`bad: Session: ${detail}`);
    fake.daemon.more = { access: { state: 'unavailable', exposed: false, detail } };
    await fake.wait(200);
    expect(fake.strip).to.equal(`bad: Tokens: ${detail}`);
  });

  it("are only “LASER MAY BE ON” if the laser's pin does not obey “Off”, and none as soon as the pin works again", async () => {
    page = await servedPage();
    await page.daemon.askAndWait('POST /sim/faults', { target: 'pin', fault: 'nack' });
    page.model.laser.darken();
    await page.wait(200);
    expect(page.strip).to.match(/^alarm: LASER MAY BE ON: cut its supply: its pin does not obey\.$/);
    await page.daemon.askAndWait('POST /sim/faults', { target: 'pin', fault: 'clear' });
    expect(page.strip).to.equal('');
  });
});

describe('an alert', () => {
  it('stays visible for at least 1 s even if its reason is gone sooner, except an alert about a stop', async () => {
    const fake = await FakePage.open();
    const hold = holdLines(fake.clock);
    const shown = () => hold(stripLines(fake.model)).map(({ about }) => about);
    const seen: string[][] = [];
    fake.daemon.shows('gimbal', { online: false });
    fake.daemon.answer('POST', '/api/stop');
    for (const back of [false, true]) {
      if (back) fake.daemon.answer('POST', '/api/resume');
      fake.daemon.shows('gimbal', { online: back, flags: ['stopped'] });
      await fake.wait(300);
      seen.push(shown());
    }
    // The alerts were first shown 300 ms ago.
    for (const ms of [699, 1]) {
      await fake.wait(ms);
      seen.push(shown());
    }
    expect(seen).to.deep.equal([['Gimbal NOT CONFIRMED.', 'Stopped:', 'Gimbal'], ['Gimbal'], ['Gimbal'], []]);
  });
});

describe('the alarm about an unconfirmed stop', () => {
  it('disappears as soon as both units have confirmed the stop', async () => {
    const fake = await FakePage.open();
    const hold = holdLines(fake.clock);
    const tones = () => hold(stripLines(fake.model)).map(({ tone }) => tone);
    fake.daemon.answer('POST', '/api/stop');
    for (const unit of ['gimbal', 'chassis'] as const) fake.daemon.shows(unit, { torque: 'on', flags: [] });
    await fake.wait(200);
    expect(tones()).to.deep.equal(['alarm', 'alarm', 'bad']);
    for (const unit of ['gimbal', 'chassis'] as const)
      fake.daemon.shows(unit, { torque: 'off', flags: ['stopped'] });
    await fake.wait(200);
    expect(tones()).to.deep.equal(['bad']);
  });
});

describe('after contact with the daemon is lost, the page', () => {
  beforeEach(open);

  it('blocks presses that move the robot or light the laser, until contact returns', async () => {
    expect(page.model.mayMove).to.equal(true);
    await page.loseContact();
    expect(page.model.mayMove).to.equal(false);
    page.mend();
    await page.wait(600);
    expect(page.model.mayMove).to.equal(true);
    page.model.pressStop();
    expect(page.model.mayMove).to.equal(false);
  });
});

describe('a page without alarms', () => {
  beforeEach(open);

  it('says “LASER ON · chassis auto” instead of “All well” if the laser is on and the chassis is in auto mode', async () => {
    expect(wellText(page.model)).to.equal('All well');
    await page.daemon.ask('POST /api/laser', { action: 'on' });
    await page.daemon.askAndWait('POST /api/chassis/mode/switch', { mode: 'auto' });
    expect(wellText(page.model)).to.equal('No faults · LASER ON · chassis auto');
  });

  it('says which caller or page drives each unit, instead of “All well”', async () => {
    await page.daemon.ask('POST /api/drive', { chassis: { speed: 0.1, turn: 0 }, id: 'other', holdMs: 500 });
    page.model.driving.ask('left stick', { yaw: 0.5 });
    await page.wait(300);
    expect(wellText(page.model)).to.equal(
      'No faults · this page drives the gimbal · 192.0.2.2 drives the chassis',
    );
  });
});
