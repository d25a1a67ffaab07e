import { expect } from 'chai';
import {
  consoleInBrowser,
  eventually,
  has,
  middleOf,
  mode,
  PHONE,
  posts,
  recordPosts,
  shows,
} from './console-page.js';

describe('a press of a button on the robot page', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, post, get } = robot;
  let revision = 0;
  const set = (phase: string) => {
    revision += 1;
    return post('/api/match', { id: 'presses', revision, phase, remainingS: null });
  };
  const isStopped = async () => (await get('/api/status')).body.stopped;

  beforeEach(() => post('/api/match/lease', { holder: 'desk', ttlMs: 60_000 }));
  afterEach(() => set('none'));

  for (const [how, isKey] of [
    ['the mouse', false],
    ['Space', true],
  ] as const)
    it(`with ${how} does nothing if "Resume" becomes "Go" during the press, and the next press acts`, async () => {
      await post('/api/stop');
      const page = await open();
      const resume = page.locator('.resume');
      await has(resume, 'aria-disabled', null);
      await recordPosts(page);
      const { x, y } = await middleOf(resume);
      await page.mouse.move(x, y);
      await resume.focus();
      await (isKey ? page.keyboard.down('Space') : page.mouse.down());
      await set('teleop');
      await shows(resume, /^Go/);
      await has(resume, 'aria-disabled', null);
      await (isKey ? page.keyboard.up('Space') : page.mouse.up());
      expect(await posts(page)).to.deep.equal([]);
      await (isKey ? page.keyboard.press('Space') : page.mouse.click(x, y));
      await eventually(async () => !(await isStopped()));
    });

  it('does nothing if "auto" is a choice for Go when the press begins, and a switch to auto when it ends', async () => {
    await set('pre');
    await set('teleop');
    await post('/api/stop');
    const page = await open();
    const auto = mode(page, 'Chassis', 'auto');
    await shows(page.locator('.resume'), /^Go/);
    await recordPosts(page);
    const { x, y } = await middleOf(auto);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await eventually(async () => {
      await post('/api/resume');
      return !(await isStopped());
    });
    await shows(page.locator('.resume'), /^Resume/);
    await has(auto, 'aria-disabled', null);
    await page.mouse.up();
    expect(await posts(page)).to.deep.equal([]);
  });

  it('does nothing if it begins as a hold of "no match" on a touch screen, and the match ends during it', async () => {
    await set('pre');
    await set('teleop');
    const page = await open({ ...PHONE, hash: '' });
    await page.locator('summary', { hasText: 'Referee' }).click();
    const button = page.locator('.phases button', { hasText: 'no match' });
    await shows(button, /hold/);
    await recordPosts(page);
    // The hold becomes due when the test says so, because a slow machine may take 400 ms for the end of the match.
    await page.evaluate(`
      const [begin, end] = [window.setTimeout, window.clearTimeout];
      window.setTimeout = (act, ms) => {
        if (ms !== 400) return begin(act, ms);
        window.due = act;
        return -1;
      };
      window.clearTimeout = timer => {
        if (timer === -1) window.due = undefined;
        else end(timer);
      };
    `);
    const touch = (type: string) => button.dispatchEvent(type, { button: 0, detail: 1 });
    await touch('pointerdown');
    await set('ended');
    await button.filter({ hasNotText: 'hold' }).waitFor();
    await touch('pointerup');
    await touch('click');
    await page.evaluate('due?.()');
    expect(await posts(page)).to.deep.equal([]);
    expect((await get('/api/status')).body.match.phase).to.equal('ended');
    await touch('pointerdown');
    await touch('pointerup');
    await touch('click');
    expect(await posts(page)).to.deep.equal(['/api/match']);
  });
});
