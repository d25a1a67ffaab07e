import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { openBrowser } from '../../test/support/browser.js';
import { Child } from '../../test/support/child.js';
import { call } from '../../test/support/daemon.js';
import { argumentsOf, script, withFolder } from '../script.js';

const PHONE = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } as const;

const { positionals } = argumentsOf(
  {
    command: 'npm run screenshot',
    about: 'Writes the pictures of the page, to docs by default.',
    operands: ['[FOLDER]'],
  },
  {},
);
const [folder = 'docs'] = positionals;

await script(() =>
  withFolder('screenshot', async state => {
    const browser = await openBrowser();
    const daemon = new Child('sim/main.js', ['--port', '0', '--state', state]);
    try {
      await takePictures(folder, await daemon.url(), browser);
    } finally {
      await browser.close();
      await daemon.kill();
    }
  }),
);

/**
 * Takes pictures of the page on the simulated robot: during a tuning of yaw, with steps by hand, on a phone, and in a
 * match.
 */
async function takePictures(folder: string, url: string, browser: Browser): Promise<void> {
  const seconds = (count: number) => new Promise(resolve => setTimeout(resolve, 1000 * count));
  const open = async (hash: string, options: Parameters<typeof browser.newPage>[0]) => {
    const page = await browser.newPage({ colorScheme: 'dark', ...options });
    await page.addInitScript("localStorage.setItem('trunnion.begun', 'yes')");
    await page.goto(url + hash);
    return page;
  };
  const mode = (unit: string, to: string) => call(url, 'POST', `/api/${unit}/mode/switch`, { mode: to });
  const { body: defaults } = await call(url, 'GET', '/api/gimbal/pidconfig');
  const weak = { ...defaults, angle_yaw: { kp: 90, ki: 90, kd: 2.25 } };
  await call(url, 'POST', '/api/gimbal/pidconfig', weak);
  const tuner = await open('', { viewport: { width: 1280, height: 900 } });
  await tuner.getByRole('button', { name: 'Tune…' }).click();
  await tuner.getByRole('button', { name: 'Tune Angle loop, yaw' }).click();
  await tuner.locator('.tune').getByRole('button', { name: 'Keep' }).waitFor({ timeout: 60_000 });
  await seconds(1);
  await tuner.screenshot({ path: join(folder, 'tune.png') });
  await tuner.close();
  await call(url, 'POST', '/api/gimbal/pidconfig', defaults);
  const desk = await open('', { viewport: { width: 1280, height: 720 } });
  await mode('chassis', 'auto');
  await mode('gimbal', 'auto');
  await seconds(6);
  await mode('gimbal', 'debug');
  await call(url, 'POST', '/api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.2, periodS: 1.4 });
  await seconds(4);
  const { body: gains } = await call(url, 'GET', '/api/gimbal/pidconfig');
  await call(url, 'POST', '/api/gimbal/pidconfig', { ...gains, angle_yaw: { kp: 150, ki: 300, kd: 3 } });
  await call(url, 'POST', '/api/laser', { action: 'on' });
  await seconds(5);
  await desk.getByLabel('Angle loop, yaw kd', { exact: true }).fill('4.5');
  await seconds(1);
  await desk.screenshot({ path: join(folder, 'console.png') });
  await desk.close();
  const phone = await open('', PHONE);
  const match = await open('#match', PHONE);
  await seconds(4);
  await phone.screenshot({ path: join(folder, 'console-phone.png') });
  await match.screenshot({ path: join(folder, 'console-match.png') });
}
