import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { consoleInBrowser, eventually, fingersOn, press, shows } from './console-page.js';

describe('the plots', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open } = robot;
  const plot = (page: Page) => page.getByRole('region', { name: 'Plot' });
  const area = (page: Page) => plot(page).locator('.u-over').first();
  const over = async (page: Page) => (await area(page).boundingBox())!;
  const filled = (page: Page) =>
    eventually(async () => /measured.?0\.0/.test((await plot(page).textContent()) ?? ''));

  it('measure the time between two clicks, zoom in by dragging or by the wheel, and return to live data on a double click', async () => {
    const page = await open();
    await filled(page);
    await shows(plot(page), /live0\.00/);
    await press(page, 'Pause');
    await shows(plot(page), /not live/);
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
    await eventually(async () => (await oldestS(page)) < -12);
    await page.mouse.move(x + width * 0.8, y + 60);
    await page.mouse.down();
    await page.mouse.move(x + width - 2, y + 70);
    await page.mouse.up();
    await shows(plot(page), /Go on/);
    await eventually(async () => (await oldestS(page)) > -4);
    await page.mouse.dblclick(x + width / 2, y + 60);
    await page.mouse.move(x + width - 2, y + 60);
    for (let turn = 0; turn < 8; turn += 1) await page.mouse.wheel(0, -300);
    await shows(plot(page), /Go on/);
    await eventually(async () => (await oldestS(page)) > -6);
    await page.mouse.dblclick(x + width / 2, y + 60);
    await eventually(async () => (await oldestS(page)) < -12);
  });

  /** The texts on the canvas of the time plot. */
  const drawnTexts = (page: Page) =>
    page.evaluate<string[]>(`new Promise(done => {
      const canvas = document.querySelector('.plot canvas');
      const { fillText } = CanvasRenderingContext2D.prototype;
      const texts = [];
      CanvasRenderingContext2D.prototype.fillText = function (text, ...place) {
        if (this.canvas === canvas) texts.push(text);
        return fillText.call(this, text, ...place);
      };
      const look = () => {
        if (texts.length === 0) return requestAnimationFrame(look);
        CanvasRenderingContext2D.prototype.fillText = fillText;
        done(texts);
      };
      requestAnimationFrame(look);
    })`);
  const numbers = (texts: readonly string[], unit: RegExp) =>
    texts.filter(text => unit.test(text)).map(text => Number.parseFloat(text.replace('−', '-')));
  const oldestS = async (page: Page) => Math.min(...numbers(await drawnTexts(page), / s$/));
  /** The difference between the highest and the lowest label of the value axis. */
  const extent = async (page: Page) => {
    const values = numbers(await drawnTexts(page), /^−?[\d.]+( rad)?$/);
    return Math.max(...values) - Math.min(...values);
  };

  it('show a cursor under a finger until the finger is lifted, and zoom in when two fingers spread', async () => {
    const page = await open({ width: 390, height: 844, touch: true });
    await filled(page);
    // Records the positions of the cursor's line.
    await page.evaluate(`
      window.places = [];
      new MutationObserver(([{ target }]) => places.push(target.style.transform))
        .observe(document.querySelector('.u-cursor-x'), { attributeFilter: ['style'] });
      undefined;
    `);
    const isAway = (place: string | undefined) => place?.startsWith('translate(-10px') === true;
    // Only one tap: several in quick succession would be another gesture.
    await area(page).tap({ position: { x: 150, y: 40 } });
    await eventually(async () => {
      const places = await page.evaluate<string[]>('places');
      return places.some(place => !isAway(place)) && isAway(places.at(-1));
    });
    const { x, y, width } = await over(page);
    const touch = await fingersOn(page);
    const two = (apart: number) =>
      [-apart, apart].map((off, id) => ({ x: x + width / 2 + off, y: y + 60, id }));
    await touch('touchStart', ...two(20));
    for (let apart = 25; apart <= 80; apart += 5) await touch('touchMove', ...two(apart));
    await touch('touchEnd');
    await shows(plot(page), /Go on/);
    await eventually(async () => {
      const times = numbers(await drawnTexts(page), / s$/);
      return Math.max(...times) - Math.min(...times) < 8;
    });
  });

  it('fit their vertical range to the motion of the loop, but keep the range while "Hold scale" is on', async () => {
    const page = await open();
    await filled(page);
    await eventually(async () => {
      const range = await extent(page);
      return range >= 0.01 && range <= 0.05;
    });
    await press(page, 'Hold scale');
    const locked = await extent(page);
    await robot.excite('gimbal', 'angle_yaw', 0.3, 20);
    await shows(plot(page), /measured.?[0-9−]*0\.[23]/);
    expect(await extent(page)).to.equal(locked);
    await press(page, 'Hold scale');
    await eventually(async () => (await extent(page)) >= 0.2);
    await robot.excite('gimbal', 'angle_yaw', 0, 20);
    await filled(page);
  });

  it('can show four loops at once, and one loop with its step figures and gains fits a window 720 px high', async () => {
    const page = await open();
    await plot(page).getByRole('button', { name: 'More loops' }).click();
    for (const name of ['Visual loop, yaw', 'Speed loop', 'Position loop', 'Heading angle loop']) {
      await plot(page).getByRole('button', { name }).click();
    }
    const charts = plot(page).locator('.u-over');
    await eventually(async () => (await charts.count()) === 4);
    await plot(page).getByRole('button', { name: 'More loops' }).click();
    await eventually(async () => (await charts.count()) === 1);
    await press(page, 'Dismiss');
    await robot.excite('gimbal', 'angle_yaw', 0.1, 1);
    const figures = page.locator('.reading .figures');
    await eventually(() => figures.isVisible());
    const isInSight = async (one: Locator) => {
      const { y, height } = (await one.boundingBox())!;
      return y + height <= 720;
    };
    for (const one of ['.plot .chart', '.reading .figures', '.step .chart', '.loop[data-chosen] .gain']) {
      await eventually(() => isInSight(page.locator(one).first()));
    }
    await page.getByRole('button', { name: 'Position loop', exact: true }).click();
    await eventually(() => isInSight(page.locator('.loop[data-chosen]')));
  });
});
