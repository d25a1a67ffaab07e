import { expect } from 'chai';
import type { Phase } from '../../src/core/phases.js';
import { type FakePage, servedPage } from './fake-page.js';
import type { ServingDaemon } from './page-daemon.js';

type Page = FakePage<ServingDaemon>;

describe('the button "Go"', () => {
  const acts = (page: Page) =>
    page.sentTo(/resume|mode/).map(({ path, body }) => [path.slice(5), Object(body).mode].join(' ').trim());
  /** A desk sets this phase. */
  const set = async ({ daemon }: Page, phase: Phase) => {
    await daemon.ask('POST /api/match/lease', { holder: 'desk', ttlMs: 60_000 });
    revision += 1;
    await daemon.ask('POST /api/match', { id: 'M1', revision, phase });
  };
  let revision = 0;
  /** A page in a match whose robot is stopped. */
  const stopped = async (phase: Phase = 'teleop') => {
    const page = await servedPage({ config: { match: { refereeSilenceMs: 60_000 } } });
    await set(page, phase);
    await page.daemon.askAndWait('POST /api/stop');
    return page;
  };

  it('resumes the robot, and then sets the modes that the user chose for gimbal and chassis', async () => {
    const page = await stopped('pre');
    page.model.go.choose('gimbal', 'auto');
    page.model.go.choose('chassis', 'auto');
    await page.wait(500);
    expect(acts(page)).to.deep.equal([]);
    await set(page, 'teleop');
    await page.wait(200);
    await page.during(page.model.go.run());
    expect(acts(page)).to.deep.equal(['resume', 'gimbal/mode/switch auto', 'chassis/mode/switch auto']);
  });

  it('remembers the chosen modes after a reload of the page, and switches a unit without a chosen mode to manual', async () => {
    const page = await stopped();
    page.model.go.choose('chassis', 'auto');
    const again = await page.another();
    await again.during(again.model.go.run());
    expect(acts(again)).to.deep.equal(['resume', 'gimbal/mode/switch manual', 'chassis/mode/switch auto']);
  });

  it('sends nothing more after the first refused request, and shows the refusal', async () => {
    for (const [path, sent] of [
      ['/api/resume', ['resume']],
      ['/api/gimbal/mode/switch', ['resume', 'gimbal/mode/switch manual']],
    ] as const) {
      const page = await stopped();
      page.refuse(new RegExp(path), 409, 'locked', 'It is locked.');
      await page.during(page.model.go.run());
      expect(acts(page)).to.deep.equal(sent);
      expect(page.strip).to.match(/It is locked/);
    }
  });

  it('sends no mode switch if "STOP" is pressed before the resume is answered', async () => {
    const page = await stopped();
    page.let(/resume/, 'answer held');
    const over = page.model.go.run();
    await page.wait(50);
    page.model.pressStop();
    await page.wait(300);
    for (const request of page.sentTo(/resume/)) request.deliver();
    await page.during(over);
    expect(acts(page)).to.deep.equal(['resume']);
  });

  it('sends no mode switch if the device slept until the resume was answered', async () => {
    const page = await stopped();
    page.let(/resume/, 'answer held');
    const over = page.model.go.run();
    await page.wait(2000);
    page.sleptMs = 5000;
    for (const request of page.sentTo(/resume/)) request.deliver();
    await page.during(over);
    expect(acts(page)).to.deep.equal(['resume']);
  });

  it('is offered only during a match while the robot is stopped, also if contact is lost meanwhile, so that a choice does not become a mode switch', async () => {
    const page = await stopped();
    const isOffered = () => page.model.go.isOffered;
    expect(isOffered()).to.equal(true);
    page.cut();
    await page.wait(5000);
    expect(isOffered()).to.equal(true);
    page.mend();
    await page.wait(5000);
    expect(isOffered()).to.equal(true);
    await page.daemon.askAndWait('POST /api/resume');
    expect(isOffered()).to.equal(false);
    await page.daemon.ask('POST /api/stop');
    await set(page, 'none');
    await page.wait(200);
    expect(isOffered()).to.equal(false);
  });

  it('sends no further mode switch after another page has stopped and resumed the robot', async () => {
    const page = await stopped();
    page.let(/mode/, 'answer held');
    const over = page.model.go.run();
    await page.wait(300);
    for (const act of ['stop', 'resume']) {
      await page.daemon.ask(`POST /api/${act}`);
      await page.wait(200);
    }
    for (const request of page.sentTo(/mode/)) request.deliver();
    await page.during(over);
    expect(acts(page)).to.deep.equal(['resume', 'gimbal/mode/switch manual']);
  });

  it('sends all on a network whose answers take 2.1 s, but nothing more after a phone was frozen for 5 s', async () => {
    for (const [frozenMs, count] of [
      [0, 3],
      [5000, 1],
    ] as const) {
      const page = await stopped();
      page.fate = ({ path }) => (/resume|mode/.test(path) ? 'answer held' : 'delivered');
      const over = page.model.go.run();
      for (let sent = 0; sent < count; sent += 1) {
        await page.wait(2100);
        // No timer of a frozen page runs meanwhile.
        page.clock.late(frozenMs);
        page
          .sentTo(/resume|mode/)
          .at(-1)!
          .deliver();
      }
      await page.during(over);
      expect(acts(page)).to.have.length(count);
    }
  });
});
