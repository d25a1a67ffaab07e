import { expect } from 'chai';
import type { Phase } from '../../src/core/phases.js';
import { refused } from './fake-daemon.js';
import { FakePage } from './fake-page.js';

describe('Go', () => {
  const acts = (page: FakePage) =>
    page.sentTo(/resume|mode/).map(({ path, body }) => [path.slice(5), Object(body).mode].join(' ').trim());
  /** A page in a match whose robot is stopped. */
  const stopped = async (phase: Phase = 'teleop') => {
    const page = await FakePage.open();
    page.daemon.match = { ...page.daemon.match, id: 'M1', phase };
    page.daemon.answer('POST', '/api/stop');
    await page.wait(200);
    return page;
  };

  it('resumes, and then sets the mode that the driver chose for the gimbal and for the chassis', async () => {
    const page = await stopped('pre');
    page.model.go.choose('gimbal', 'auto');
    page.model.go.choose('chassis', 'auto');
    await page.wait(500);
    expect(acts(page)).to.deep.equal([]);
    page.daemon.match = { ...page.daemon.match, phase: 'teleop' };
    await page.wait(200);
    await page.clock.during(page.model.go.run());
    expect(acts(page)).to.deep.equal(['resume', 'gimbal/mode/switch auto', 'chassis/mode/switch auto']);
  });

  it('sets manual unless the driver chose, and remembers the choice over a reload', async () => {
    const page = await stopped();
    page.model.go.choose('chassis', 'auto');
    const again = await FakePage.open({ browser: page.browser, daemon: page.daemon });
    await again.clock.during(again.model.go.run());
    expect(acts(again)).to.deep.equal(['resume', 'gimbal/mode/switch manual', 'chassis/mode/switch auto']);
  });

  it('ends at the first refusal, and shows it', async () => {
    for (const [path, sent] of [
      ['/api/resume', ['resume']],
      ['/api/gimbal/mode/switch', ['resume', 'gimbal/mode/switch manual']],
    ] as const) {
      const page = await stopped();
      page.daemon.override = (_, asked) =>
        asked === path ? refused(409, 'locked', 'It is locked.') : undefined;
      await page.clock.during(page.model.go.run());
      expect(acts(page)).to.deep.equal(sent);
      expect(page.strip).to.match(/It is locked/);
    }
  });

  it('sends nothing more after a STOP that is pressed meanwhile', async () => {
    const page = await stopped();
    page.let(/resume/, 'answer held');
    const over = page.model.go.run();
    await page.wait(50);
    page.model.pressStop();
    await page.wait(300);
    for (const request of page.sentTo(/resume/)) request.deliver();
    await page.clock.during(over);
    expect(acts(page)).to.deep.equal(['resume']);
  });

  it('is offered only while a match has the robot stopped, and the page knows it', async () => {
    const page = await stopped();
    const isOffered = () => page.model.go.isOffered;
    expect(isOffered()).to.equal(true);
    page.cut();
    await page.wait(5000);
    expect(isOffered()).to.equal(false);
    page.mend();
    await page.wait(5000);
    expect(isOffered()).to.equal(true);
    page.daemon.answer('POST', '/api/resume');
    await page.wait(200);
    expect(isOffered()).to.equal(false);
    page.daemon.answer('POST', '/api/stop');
    page.daemon.match = { ...page.daemon.match, phase: 'none' };
    await page.wait(200);
    expect(isOffered()).to.equal(false);
  });
});
