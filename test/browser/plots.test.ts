import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { eventually } from '../support/eventually.js';
import { consoleInBrowser, press, shows } from './console-page.js';

describe('the plots', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open } = robot;
  const plot = (page: Page) => page.getByRole('region', { name: 'Plot' });
  const over = async (page: Page) => (await plot(page).locator('.u-over').first().boundingBox())!;
  const filled = (page: Page) =>
    eventually(async () => /measured.?0\.0/.test((await plot(page).textContent()) ?? ''));

  it('measure between two picked moments, and forget them by a double press', async () => {
    const page = await open();
    await filled(page);
    await press(page, 'Pause');
    const { x, y, width } = await over(page);
    await page.mouse.click(x + width - 40, y + 60);
    await page.mouse.move(x + width - 20, y + 60);
    await shows(plot(page), /Δ 0\.\d+ s/);
    await page.mouse.click(x + width - 10, y + 60);
    await page.mouse.move(x + width - 200, y + 200);
    await shows(plot(page), /Δ 0\.\d+ s/);
    await page.mouse.dblclick(x + width - 100, y + 60);
    await eventually(async () => !/Δ/.test((await plot(page).textContent()) ?? ''));
    await shows(plot(page), /Pause/);
  });

  it('zoom by the wheel around the cursor', async () => {
    const page = await open();
    await filled(page);
    const { x, y, width } = await over(page);
    await page.mouse.move(x + width / 2, y + 60);
    await page.mouse.wheel(0, -300);
    await shows(plot(page), /Go on/);
  });

  it('stack up to four loops on one time axis', async () => {
    const page = await open();
    await plot(page).getByRole('button', { name: 'Stack' }).click();
    for (const name of ['Visual loop, yaw', 'Speed loop', 'Position loop', 'Heading angle loop']) {
      await plot(page).getByRole('button', { name }).click();
    }
    expect(await plot(page).locator('.u-over').count()).to.equal(4);
    await plot(page).getByRole('button', { name: 'Stack' }).click();
    expect(await plot(page).locator('.u-over').count()).to.equal(1);
  });

  it('let the value under a finger go with the finger', async () => {
    const page = await open({ width: 390, height: 844, touch: true });
    await filled(page);
    const { x, y, width } = await over(page);
    await page.touchscreen.tap(x + width / 2, y + 40);
    const cursor = () => page.evaluate<string>("document.querySelector('.u-cursor-x').style.transform");
    await eventually(async () => (await cursor()).startsWith('translate(-10px'));
  });

  it('leave plot, step figures and the gains of the chosen loop in sight on a laptop', async () => {
    const page = await open();
    await press(page, 'Dismiss');
    const post = robot.post;
    await post('/api/gimbal/mode/switch', { mode: 'debug' });
    await post('/api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 });
    const figures = page.locator('.figures');
    await eventually(() => figures.isVisible());
    for (const one of ['.plot .chart', '.figures', '.step .chart', '.loop[data-chosen] .gain']) {
      const { y, height } = (await page.locator(one).first().boundingBox())!;
      expect(y + height, one).to.be.at.most(720);
    }
    await plot(page).getByRole('button', { name: 'Position loop' }).click();
    const { y, height } = (await page.locator('.loop[data-chosen]').boundingBox())!;
    expect(y + height).to.be.at.most(720);
  });
});
