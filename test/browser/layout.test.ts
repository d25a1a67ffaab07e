import { expect } from 'chai';
import type { Locator } from 'playwright-core';
import {
  alerts,
  clipped,
  consoleInBrowser,
  eventually,
  has,
  overflow,
  placesOf,
  shows,
} from './console-page.js';

/** The layout of the page under faults, and how soon it shows them. */
describe('the console during faults', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, post, fault, truth } = robot;

  it('does not move, clip or cover its buttons and fields at widths from 320 to 1280 px', async () => {
    for (const [width, height] of [
      [320, 700],
      [390, 844],
      [844, 390],
      [820, 1180],
      [1280, 720],
    ] as const) {
      const page = await open({ width, height, touch: width < 1000 });
      const places = () => placesOf(page, '.stop, .resume, .gain input');
      const covered = () =>
        page.evaluate<string[]>(`[...document.querySelectorAll('button, input, summary, a, .bar .label')]
          .filter(one => one.checkVisibility() && !one.closest('.strip li ~ li'))
          .filter(one => {
            const { left, top, width, height } = one.getBoundingClientRect();
            const at = document.elementFromPoint(left + width / 2, top + height / 2);
            return at !== null && top > 0 && top + height < innerHeight && !(one.contains(at) || at.contains(one));
          }).map(one => one.outerHTML)`);
      const before = await places();
      await fault('chassis', 'unplug');
      await fault('pin', 'nack');
      await shows(alerts(page), /Chassis is offline/);
      await shows(alerts(page), /LASER MAY BE ON/);
      await has(page.locator('html'), 'data-lit', '');
      expect(await places()).to.deep.equal(before);
      expect(await overflow(page)).to.be.at.most(0);
      expect(await covered(), `at ${width} px`).to.deep.equal([]);
      expect(await clipped(page, '.segments button, .stopping button'), `at ${width} px`).to.deep.equal([]);
      const offline = alerts(page).locator('li', { hasText: 'Chassis' }).first();
      const bottom = async (of: Locator) => {
        const { y, height } = (await of.boundingBox())!;
        return y + height;
      };
      const end = await bottom(alerts(page));
      expect(await bottom(offline)).to.be.greaterThan(end);
      await alerts(page).getByRole('button', { name: /^All/ }).click();
      await eventually(
        async () => (await alerts(page).locator('ul').boundingBox())!.height > (await bottom(offline)) - end,
      );
      await page.locator('.stop').click({ trial: true });
      await alerts(page).getByRole('button', { name: 'Fold' }).click();
      expect(await covered(), `at ${width} px`).to.deep.equal([]);
      await fault('chassis', 'plug');
      await fault('pin', 'clear');
      await post('/api/match/lock', { reason: 'There are people on the field.' });
      await shows(page.locator('.match-board'), /LOCKED by/);
      expect(await places()).to.deep.equal(before);
      await post('/api/match/unlock');
      await post('/api/resume');
      await page.context().close();
    }
  });

  it('shows the button "More" on an alert only if the text of the alert is clipped', async () => {
    const page = await open();
    const more = alerts(page).getByRole('button', { name: 'More' });
    await fault('chassis', 'unplug');
    await shows(alerts(page), /Chassis is offline/);
    expect(await more.count()).to.equal(0);
    // A line that is alone has the room of three.
    await page.setViewportSize({ width: 1280, height: 900 });
    await post('/api/match/lock', { reason: 'There are people on the field. '.repeat(6) });
    await shows(alerts(page), /Locked by/);
    await fault('chassis', 'plug');
    await eventually(async () => (await alerts(page).locator('li').count()) === 1);
    await eventually(async () => (await more.count()) === 0);
    const clamp = alerts(page).locator('.clamp');
    expect(await clamp.evaluate(one => one.scrollHeight <= one.clientHeight)).to.equal(true);
    await page.setViewportSize({ width: 320, height: 844 });
    await more.click();
    await alerts(page).getByRole('button', { name: 'Fold' }).click();
    await more.waitFor();
    await post('/api/match/unlock');
  });

  it('marks its values as stale while the daemon is frozen, and retries a STOP until the daemon answers', async () => {
    const page = await open();
    await post('/api/laser', { action: 'on' });
    await shows(page.locator('.lamp'), /LASER ON/);
    await page.evaluate(`
      window.seen = {};
      window.pressedAt = Infinity;
      const note = (name, holds) => { if (!(name in seen) && holds) seen[name] = performance.now() - pressedAt; };
      document.querySelector('.stop').addEventListener('pointerdown', () => { pressedAt = performance.now(); }, { capture: true });
      new MutationObserver(() => {
        note('busy', document.querySelector('.stop').ariaBusy === 'true');
        note('again', /sent, asking again/.test(document.querySelector('.strip').textContent));
        note('stale', document.documentElement.hasAttribute('data-stale'));
      }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    `);
    const place = await page.locator('.stop').boundingBox();
    const colour = () =>
      page.evaluate<string>("getComputedStyle(document.querySelector('.drive-state output')).color");
    const fresh = await colour();
    robot.daemon.process.kill('SIGSTOP');
    await page.locator('.stop').click();
    await shows(page.locator('.lamp'), /unknown \(was on\)/);
    await shows(alerts(page).locator('[data-tone=alarm]').first(), /STOP sent, asking again/);
    await shows(page.locator('.resume'), /no answer yet/);
    await eventually(async () => /LASER MAY BE ON · No contact/.test(await page.title()));
    expect(await page.locator('.laser [aria-pressed=true]').count()).to.equal(0);
    await page.waitForFunction('seen.stale !== undefined && seen.again !== undefined');
    expect(await page.locator('.stop').boundingBox()).to.deep.equal(place);
    expect(await colour(), 'the speed').to.not.equal(fresh);
    const seen = await page.evaluate<{ busy: number; again: number; stale: number }>('seen');
    robot.daemon.process.kill('SIGCONT');
    await shows(alerts(page), /^(?!.*asking again).*gimbal stopped \(confirmed\)/);
    expect((await truth()).gimbal.stopped).to.equal(true);
    // A busy machine draws late, and never early. test/console tests the limits.
    expect(seen.busy).to.be.lessThan(seen.again);
    expect(seen.again).to.be.greaterThan(290);
  });

  it('disables the buttons "auto", "debug", "On" and "Resume", but not STOP, "Off" or "manual", while the daemon does not answer', async () => {
    const page = await open();
    robot.daemon.process.kill('SIGSTOP');
    await has(page.locator('html'), 'data-stale', '');
    const grey = await page
      .locator('.bar :is(.segments, .stopping) button')
      .evaluateAll(all => all.filter(one => one.ariaDisabled === 'true').map(one => one.textContent));
    robot.daemon.process.kill('SIGCONT');
    expect(grey).to.deep.equal(['auto', 'debug', 'auto', 'debug', 'On', 'Resumeno contact']);
  });

  it('greys phases and lease on the panel of a referee while the daemon does not answer', async () => {
    await post('/api/match', { id: 'grey', revision: 1, phase: 'pre' });
    const page = await open();
    await page.locator('summary', { hasText: 'Referee' }).click();
    const button = page.locator('.phases [aria-pressed=true]');
    await button.waitFor();
    const looks = () =>
      page.evaluate<string[]>(`[
        getComputedStyle(document.querySelector('.phases')).filter,
        getComputedStyle(document.querySelector('.lease > .state')).filter,
        getComputedStyle(document.querySelector('.phases [aria-pressed=true]')).borderStyle,
      ]`);
    expect(await looks()).to.deep.equal(['none', 'none', 'solid']);
    robot.daemon.process.kill('SIGSTOP');
    await has(page.locator('html'), 'data-stale', '');
    const stale = await looks();
    robot.daemon.process.kill('SIGCONT');
    await post('/api/match', { id: 'grey', revision: 2, phase: 'none' });
    expect(stale).to.deep.equal(['grayscale(1)', 'grayscale(1)', 'dashed']);
  });
});
