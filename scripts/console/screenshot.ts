import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openBrowser } from '../../test/support/browser.js';
import { Child } from '../../test/support/child.js';
import { call } from '../../test/support/daemon.js';

/** The operator's page on the simulated robot while its yaw is tuned, as the README shows it. */
const target = process.argv[2] ?? 'docs/console.png';
const state = await mkdtemp(join(tmpdir(), 'trunnion-'));
const daemon = new Child('sim/main.js', ['--port', '0', '--state', state]);
const browser = await openBrowser();
const seconds = (count: number) => new Promise(resolve => setTimeout(resolve, 1000 * count));
try {
  const url = await daemon.url();
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, colorScheme: 'dark' });
  await page.goto(url);
  const mode = (unit: string, to: string) => call(url, 'POST', `/api/${unit}/mode/switch`, { mode: to });
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
  await page.getByLabel('Angle loop, yaw kd', { exact: true }).fill('4.5');
  await page.getByText('History').first().click();
  await seconds(1);
  await page.screenshot({ path: target, fullPage: true });
} finally {
  await browser.close();
  await daemon.kill();
  await rm(state, { recursive: true });
}
