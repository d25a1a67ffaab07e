import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../support/browser.js';
import {
  alerts,
  card,
  consoleInBrowser,
  eventually,
  field,
  has,
  mode,
  overflow,
  shows,
} from './console-page.js';

/** Alarm colours, drawings, enlarged text, and the reader's own colours. */
describe('the console', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, post } = robot;
  const colourOf = (page: Page, selector: string) =>
    page.evaluate<string>(
      `getComputedStyle(document.querySelector(${JSON.stringify(selector)})).backgroundColor`,
    );
  const RED = 'rgb(208, 32, 42)';
  const AMBER = 'rgb(242, 180, 85)';

  it('shows all digits of a typed gain, in amber if the gain differs from the saved gain in sign or by more than a factor of 5', async () => {
    const page = await open();
    const kp = field(page, 'Speed loop kp');
    const stored = Number(await kp.inputValue());
    for (const [value, isDrastic] of [
      [stored * 5, false],
      [stored * 5.1, true],
      [stored / 5.1, true],
      [-stored, true],
      [stored * 1.1, false],
    ] as const) {
      await kp.fill(String(value));
      await eventually(
        async () => ((await colourOf(page, '#gain-chassis-speed-kp')) === AMBER) === isDrastic,
      );
    }
    for (const text of ['+1000000000', '-0.00012345678']) {
      await kp.fill(text);
      const hidden = await page.evaluate<number>(
        'document.activeElement.scrollWidth - document.activeElement.clientWidth',
      );
      expect(hidden, text).to.be.at.most(0);
    }
    await card(page, 'Chassis').getByRole('button', { name: 'Discard' }).click();
  });

  it('shows the amplitude and frequency of an oscillating loop in red, and a dash instead of its overshoot', async () => {
    const { body: saved } = await robot.get('/api/gimbal/pidconfig');
    await post('/api/gimbal/pidconfig', { ...saved, angle_yaw: { kp: 300, ki: 300, kd: 0 } });
    const page = await open();
    const alarm = page.locator('.reading [data-tone=alarm]');
    await eventually(async () => {
      // A machine that stalls ends the test steps, so that they are begun again.
      const { body } = await robot.get('/api/gimbal/excitation');
      if (body.amplitude === 0) await robot.excite('gimbal', 'angle_yaw', 0.1, 2);
      return (await alarm.count()) > 0;
    });
    await shows(alarm, /^oscillates ±0\.\d+ rad, [\d.]+ Hz$/);
    expect(await colourOf(page, '.reading [data-tone=alarm]')).to.equal(RED);
    await shows(page.locator('.reading tbody td').first(), /^–$/);
    await post('/api/gimbal/pidconfig', saved);
  });

  it("draws the gimbal's target, and draws the beam of an offline gimbal only while the laser is on", async () => {
    const page = await open();
    const drawn = (label: RegExp, part: string) => page.getByRole('img', { name: label }).locator(part);
    const views = [/^What the gimbal/, /^The robot from above/];
    for (const view of views) await drawn(view, '.target').first().waitFor({ state: 'attached' });
    await robot.fault('gimbal', 'unplug');
    await shows(alerts(page), /Gimbal is offline/);
    for (const view of views) expect(await drawn(view, '.beam').count()).to.equal(0);
    await post('/api/laser', { action: 'on' });
    for (const view of views) await drawn(view, '.beam').first().waitFor({ state: 'attached' });
  });

  it('has no serious accessibility fault in the full page or in the match view, on a monitor or on a phone', async () => {
    await post('/api/laser', { action: 'on' });
    await post('/api/chassis/mode/switch', { mode: 'debug' });
    for (const hash of ['', '#match'])
      for (const size of [
        { width: 1440, height: 900 },
        { width: 390, height: 844, touch: true },
      ]) {
        const page = await open({ ...size, hash });
        await has(mode(page, 'Chassis', 'debug'), 'aria-pressed', 'true');
        if (hash === '') {
          await page.getByRole('button', { name: 'Speed loop', exact: true }).first().click();
          await card(page, 'Chassis').getByText('History').click();
          await field(page, 'Speed loop kp').fill('5000');
          await field(page, 'Speed loop kd').fill('x');
        }
        const shown = await page.evaluate(`[...document.querySelectorAll('.gain input')]
          .filter(one => one.checkVisibility()).map(one => one.ariaLabel)`);
        if (size.touch && hash === '')
          expect(shown).to.deep.equal(['Speed loop kp', 'Speed loop ki', 'Speed loop kd']);
        expect(await accessibilityFaults(page), `${hash} ${size.width}`).to.deep.equal([]);
        expect(await overflow(page)).to.be.at.most(0);
        await page.locator('.stop').click();
        await shows(alerts(page), /Stopped/);
        expect(await accessibilityFaults(page), `${hash} ${size.width}`).to.deep.equal([]);
        await post('/api/resume');
        await post('/api/chassis/mode/switch', { mode: 'debug' });
        await page.context().close();
      }
  });

  it('zoomed to 200 % fits the width of the window, keeps a focused gain field below the top bar, and has a working STOP', async () => {
    const page = await open({ width: 640, height: 360 });
    expect(await overflow(page)).to.be.at.most(0);
    await field(page, 'Angle loop, yaw kp').click();
    await page.keyboard.press('ArrowUp');
    await shows(page.locator('#note-gimbal-angle_yaw-kp'), /stored/);
    const { y } = (await field(page, 'Angle loop, yaw kp').boundingBox())!;
    const { y: barY, height } = (await page.locator('.bar').boundingBox())!;
    expect(y).to.be.greaterThan(barY + height);
    await page.locator('.stop').click();
    await shows(alerts(page), /Stopped/);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
  });

  it('in forced-colours mode still shows STOP in red, the selected mode, and the warning that the laser is on', async () => {
    const context = await robot.browser.newContext({
      forcedColors: 'active',
      colorScheme: 'dark',
      viewport: { width: 1280, height: 720 },
    });
    const page = await context.newPage();
    await page.goto(robot.url);
    await shows(page.locator('.link'), /Live/);
    expect(await colourOf(page, '.stop')).to.equal(RED);
    await has(mode(page, 'Gimbal', 'manual'), 'aria-pressed', 'true');
    const outline = await page.evaluate<string>(
      `getComputedStyle(document.querySelector('.modes [aria-pressed="true"]')).outlineStyle`,
    );
    expect(outline).to.equal('solid');
    await post('/api/laser', { action: 'on' });
    await shows(page.locator('.lamp'), /LASER ON/);
    const background = `getComputedStyle(document.querySelector('.laser')).backgroundImage`;
    await eventually(async () => /repeating-linear-gradient/.test(await page.evaluate(background)));
    expect(await accessibilityFaults(page)).to.deep.equal([]);
  });
});
