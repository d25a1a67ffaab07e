import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { accessibilityFaults } from '../support/browser.js';
import {
  alerts,
  clipped,
  consoleInBrowser,
  eventually,
  fingersOn,
  HOLD_MS,
  has,
  LANDSCAPE,
  middleOf,
  mode,
  nowMs,
  overflow,
  PHONE,
  placesOf,
  posts,
  recordPosts,
  sentMs,
  shows,
} from './console-page.js';

describe('the match view', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, truth, post } = robot;
  const laserOn = (page: Page) =>
    page.getByRole('group', { name: 'Laser' }).getByRole('button', { name: 'On' });
  /** The wait runs in the page, whose timers keep their order even on a slow machine. */
  const hold = (button: Locator, holdMs: number) =>
    button.evaluate(
      (one, ms) =>
        new Promise<void>(done => {
          one.dispatchEvent(new Event('pointerdown', { bubbles: true }));
          setTimeout(() => {
            one.dispatchEvent(new Event('pointerup', { bubbles: true }));
            done();
          }, ms);
        }),
      holdMs,
    );

  it('on a phone prevents zooming and selecting by touch, and says whether the screen stays on', async () => {
    const page = await open({ width: 390, height: 844, touch: true });
    await page.getByRole('link', { name: 'Match view', exact: true }).tap();
    await eventually(() => page.locator('.match').isVisible());
    await shows(page.locator('.link'), /Live · \d+ ms · [1-9]\d* Hz/);
    const style = await page.evaluate(`(() => {
      const { touchAction, userSelect } = getComputedStyle(document.querySelector('.match'));
      return { touchAction, userSelect };
    })()`);
    expect(style).to.deep.equal({ touchAction: 'none', userSelect: 'none' });
    const hint = page.locator('.match .hint');
    const seeAgain = (answer: string) =>
      page.evaluate(`
        navigator.wakeLock.request = async () => ${answer};
        document.dispatchEvent(new Event('visibilitychange'));
      `);
    await seeAgain('Promise.reject(new Error())');
    await shows(hint, /^The screen may go dark: this browser keeps it on over HTTPS only/);
    await seeAgain(
      '(window.sentinel = Object.assign(new EventTarget(), { release: async () => undefined }))',
    );
    await shows(hint, /^The screen stays on/);
    await page.evaluate("sentinel.dispatchEvent(new Event('release'))");
    await shows(hint, /^The screen may go dark/);
    await page.getByRole('link', { name: 'Full page' }).tap();
    await eventually(() => page.locator('.bar').isVisible());
  });

  it('turns on the laser or auto mode only if the button is held for 400 ms, but manual mode as soon as its button is touched', async () => {
    const page = await open(PHONE);
    await laserOn(page).tap();
    await mode(page, 'Chassis', 'auto').tap();
    await hold(laserOn(page), 150);
    await shows(laserOn(page), /hold it/);
    expect((await truth()).laser.level).to.equal(0);
    expect((await truth()).chassis.mode).to.equal('manual');
    await page.evaluate(`
      window.buzzes = [];
      navigator.vibrate = pattern => buzzes.push({ pattern, atMs: performance.now() }) > 0;
    `);
    /** The animation that fills the button while it is held. Reads its keyframes, because few frames may be drawn. */
    const fill = await page.evaluate(`new Promise(done => {
      const button = document.querySelector('.laser .hold');
      new MutationObserver((_, observer) => {
        observer.disconnect();
        const { effect } = button.getAnimations({ subtree: true })
          .find(one => one.effect.pseudoElement === '::before');
        const [from, to] = effect.getKeyframes();
        done({ ms: effect.getTiming().duration, from: from.transform, to: to.transform, easing: from.easing });
      }).observe(button, { attributeFilter: ['data-held'] });
      button.dispatchEvent(new Event('pointerdown', { bubbles: true }));
    })`);
    expect(fill).to.deep.equal({ ms: 400, from: 'scaleX(0)', to: 'scaleX(1)', easing: 'linear' });
    await shows(page.locator('.lamp'), /LASER ON/);
    const [begun, full, ...more] = await page.evaluate<{ pattern: number; atMs: number }[]>('buzzes');
    expect([begun?.pattern, full?.pattern, more]).to.deep.equal([10, 60, []]);
    // The laser is lit after 400 ms. Timers are coarser than performance.now(), so 1 ms may be missing.
    expect(full!.atMs - begun!.atMs).to.be.greaterThan(399);
    await laserOn(page).dispatchEvent('pointerup');
    await mode(page, 'Chassis', 'auto').dispatchEvent('pointerdown');
    await has(mode(page, 'Chassis', 'auto'), 'aria-pressed', 'true');
    expect((await truth()).laser.level).to.equal(1);
    // The manual button acts when it is touched. It need not be held.
    await mode(page, 'Chassis', 'manual').dispatchEvent('pointerdown');
    await has(mode(page, 'Chassis', 'manual'), 'aria-pressed', 'true');
    await page.getByRole('button', { name: 'Off' }).tap();
    await shows(page.locator('.lamp'), /dark/);
  });

  it('on a phone shows the whole label of each mode button, even while the text "Go: manual" is also shown', async () => {
    await post('/api/gimbal/mode/switch', { mode: 'debug' });
    const page = await open(PHONE);
    await post('/api/match', { id: 'cut', revision: 1, phase: 'pre', remainingS: null });
    await shows(page.getByRole('group', { name: 'Gimbal mode' }), /Go: manual.*debug/);
    for (const size of [{ width: 320, height: 700 }, PHONE, LANDSCAPE]) {
      await page.setViewportSize(size);
      expect(await clipped(page, '.modes button'), `at ${size.width} px`).to.deep.equal([]);
    }
    await post('/api/match', { id: 'cut', revision: 2, phase: 'none', remainingS: null });
  });

  it('resumes the robot and sets the chosen modes when the button "Go" is held, but does nothing when "Go" is tapped', async () => {
    const set = (revision: number, phase: string) =>
      post('/api/match', { id: 'go', revision, phase, remainingS: null });
    await post('/api/match/lease', { holder: 'desk', ttlMs: 60_000 });
    await set(1, 'pre');
    const page = await open(PHONE);
    const go = page.getByRole('button', { name: /^Go/ });
    await shows(go, /Go.*not in pre/);
    for (const unit of ['Gimbal', 'Chassis']) {
      await mode(page, unit, 'auto').tap();
      await shows(page.getByRole('group', { name: `${unit} mode` }), /Go: auto/);
    }
    const modes = async () => {
      const { gimbal, chassis } = await truth();
      return [gimbal.mode, chassis.mode];
    };
    expect(await modes()).to.deep.equal(['manual', 'manual']);
    await set(2, 'teleop');
    await has(go, 'aria-disabled', null);
    await recordPosts(page);
    await go.tap();
    expect((await truth()).gimbal.stopped).to.equal(true);
    const heldMs = await nowMs(page);
    await hold(go, 450);
    await eventually(async () => (await modes()).join() === 'auto,auto');
    // The tap sent nothing, not even late.
    expect((await posts(page)).filter(path => path === '/api/resume')).to.have.length(1);
    const resumedMs = Math.min(...(await sentMs(page, '/api/resume')));
    expect(resumedMs).to.be.within(heldMs + HOLD_MS, await nowMs(page));
    await set(3, 'none');
  });

  it('ends the hold of the laser button "On" when the finger slides off this button or a stop arrives', async function () {
    // A slow machine may take over 400 ms for the movement. The button then counts as held.
    this.retries(4);
    const page = await open(PHONE);
    await page.evaluate(`
      window.buzzes = [];
      navigator.vibrate = pattern => buzzes.push(pattern) > 0;
    `);
    const buzzes = () => page.evaluate<unknown[]>('buzzes');
    const send = await fingersOn(page);
    const middle = await middleOf(laserOn(page));
    const { width } = (await laserOn(page).boundingBox())!;
    await Promise.all([send('touchStart', middle), send('touchMove', { ...middle, x: middle.x + width })]);
    await eventually(async () => (await buzzes()).length > 0);
    await has(laserOn(page), 'data-held', null);
    expect(await buzzes()).to.deep.equal([10]);
    await send('touchEnd');
    await page.evaluate(`
      document.querySelector('.laser .hold').dispatchEvent(new Event('pointerdown', { bubbles: true }));
      fetch('/api/stop', { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' });
    `);
    await eventually(async () => (await buzzes()).length > 1);
    await has(laserOn(page), 'data-held', null);
    expect(await buzzes()).to.deep.equal([10, 10]);
  });

  it('has a STOP button across the bottom of the screen, over 150 px from "Resume", and one tap on STOP stops the robot', async () => {
    for (const size of [PHONE, LANDSCAPE, { ...PHONE, width: 320, height: 568 }]) {
      const page = await open(size);
      const stop = (await page.locator('.stop').boundingBox())!;
      const resume = (await page.locator('.resume').boundingBox())!;
      expect(stop.width).to.equal(size.width);
      expect(stop.y + stop.height).to.be.closeTo(size.height, 1);
      expect(stop.y - (resume.y + resume.height)).to.be.greaterThan(150);
      const small = await page.evaluate(`[...document.querySelectorAll('.match button:not(.fold)')]
        .map(one => one.getBoundingClientRect()).filter(({ width, height }) => Math.min(width, height) < 55.9).length`);
      expect(small, JSON.stringify(size)).to.equal(0);
      expect(await overflow(page)).to.be.at.most(0);
      await page.locator('.stop').tap();
      await shows(alerts(page), /Stopped/);
      expect(await laserOn(page).isDisabled()).to.equal(true);
      await has(page.locator('.stop'), 'aria-busy', null);
      // On a busy machine the stop is confirmed later than it is answered, and Resume is grey until then.
      await has(page.locator('.resume'), 'aria-disabled', null);
      await hold(page.locator('.resume'), 450);
      await shows(alerts(page), /All well/);
      await page.context().close();
    }
  });

  it('stops the robot as soon as a finger touches STOP, even if that finger stays, slides, or is the second one on the screen', async () => {
    const page = await open(PHONE);
    const send = await fingersOn(page);
    const thumb = await middleOf(page.locator('.stop'));
    const other = await middleOf(page.locator('.match .hint'), 1);
    const buzzes = () => page.evaluate<number>('buzzes');
    await page.evaluate(`
      window.buzzes = 0;
      navigator.vibrate = () => (buzzes += 1) > 0;
    `);
    const stops = async (...acts: (() => Promise<unknown>)[]) => {
      for (const act of acts) await act();
      await eventually(async () => (await truth()).gimbal.stopped);
      await send('touchEnd');
      await shows(alerts(page), /Stopped at/);
      // The page retries a STOP until it is answered.
      await has(page.locator('.stop'), 'aria-busy', null);
      await post('/api/resume');
      await shows(alerts(page), /All well/);
    };
    await stops(() => send('touchStart', thumb));
    expect(await buzzes()).to.equal(1);
    await page.locator('.stop').press('Enter');
    expect(await buzzes()).to.equal(2);
    await stops(
      () => send('touchStart', other),
      () => send('touchStart', other, thumb),
    );
    await stops(
      () => send('touchStart', thumb),
      () => send('touchMove', { ...thumb, y: thumb.y - 40 }),
    );
  });

  it('shows a lock without moving, covering or clipping a button, on a phone in portrait and in landscape', async () => {
    for (const size of [PHONE, LANDSCAPE]) {
      const page = await open(size);
      await shows(alerts(page), /All well/);
      const places = () => placesOf(page, '.match main button');
      const before = await places();
      await post('/api/match/lock', { reason: `Pit stop ${'x'.repeat(20)}` });
      const board = page.locator('.match-board');
      await shows(board, /LOCKED by .*: Pit stop/);
      expect(await places()).to.deep.equal(before);
      expect(await clipped(page, '.segments button')).to.deep.equal([]);
      expect(await overflow(page)).to.be.at.most(0);
      const { y, height: tall } = (await board.boundingBox())!;
      const stop = (await page.locator('.stop').boundingBox())!;
      for (const one of await places()) {
        expect(one.y).to.be.at.least(y + tall);
        expect(one.y + one.height).to.be.at.most(stop.y);
      }
      await post('/api/match/unlock');
      await post('/api/resume');
      await page.context().close();
    }
  });

  it('shows all alerts on a tall phone without moving a button, and their button "Got it" is at least 56 px wide and high', async () => {
    const page = await open({ ...PHONE, height: 1100 });
    const places = () => placesOf(page, '.match > header button, main button, .match > .stop');
    const before = await places();
    await robot.fault('chassis', 'brownout');
    await shows(alerts(page), /Chassis restarted/);
    await robot.fault('chassis', 'unplug');
    await robot.fault('pin', 'nack');
    await shows(alerts(page), /Chassis is offline/);
    await shows(alerts(page), /LASER MAY BE ON/);
    expect(await places()).to.deep.equal(before);
    // Read all lines at one moment, because another line may still come.
    const lowest = `Math.max(...[...document.querySelectorAll('.strip li')].map(one => one.getBoundingClientRect().bottom))`;
    const room = `document.querySelector('.strip').getBoundingClientRect().bottom + 1`;
    await eventually(() => page.evaluate<boolean>(`${lowest} <= ${room}`));
    const noted = (await page.getByRole('button', { name: 'Got it' }).boundingBox())!;
    expect(Math.min(noted.width, noted.height)).to.be.at.least(56);
    expect(await overflow(page)).to.be.at.most(0);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await page.getByRole('button', { name: 'Got it' }).tap();
  });
});
