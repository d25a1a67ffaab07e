import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../support/browser.js';
import { card, consoleInBrowser, eventually, field, overflow, press, shows } from './console-page.js';

/** The curves of a comparison on the canvas, in dark mode. */
function coloursIn(page: Page, canvas: string): Promise<string> {
  return page.evaluate(`(() => {
    const canvas = document.querySelector('${canvas}');
    if (canvas === null) return 'no canvas';
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let amber = 0;
    let blue = 0;
    for (let at = 0; at < data.length; at += 4) {
      const [r, g, b] = data.subarray(at, at + 3);
      if (r > 200 && g > 140 && b < 120) amber += 1;
      if (r < 110 && g > 150 && b > 220) blue += 1;
    }
    return [amber > 50 && 'amber', blue > 50 && 'blue'].filter(Boolean).join(' and ');
  })()`);
}

describe('the console with profiles', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, get, post } = robot;
  const gainsOf = async () => (await get('/api/chassis/pidconfig')).body;

  it('lets a person store the running gains as a profile, star the profile, compare it with a later save, and load it again', async () => {
    const carpet = await gainsOf();
    const page = await open();
    const chassis = card(page, 'Chassis');
    await chassis.getByText('Profiles').click();
    await chassis.getByLabel('Name of the profile').fill('carpet');
    await chassis.getByLabel('Note').fill('soft and slow');
    const saveAs = chassis.getByRole('button', { name: 'Save as' });
    await saveAs.click();
    await eventually(async () => {
      // On a busy machine the disk may be too slow for the daemon. The person then presses again.
      if (/too slow/.test((await chassis.textContent()) ?? '')) await saveAs.click();
      return /carpet .*soft and slow/.test((await chassis.locator('.profiles').textContent()) ?? '');
    });
    await saveAs.click();
    await shows(chassis.getByRole('alert'), /already has a profile carpet/);
    await chassis.getByLabel('Name of the profile').fill('tile');
    await chassis.getByRole('button', { name: 'Replace it' }).click();
    await shows(chassis, /kept as carpet/);
    await chassis.getByRole('button', { name: 'Star carpet' }).click();
    await eventually(async () => (await get('/api/chassis/profiles')).body[0].profile.starred);
    await post('/api/chassis/pidconfig', { ...carpet, speed: { kp: 33, ki: 300, kd: 0 } });
    const table = chassis.getByRole('table', { name: 'Comparison' });
    const { revision } = (await get('/api/status')).body.chassis.gains;
    await table.getByLabel('Compare').selectOption('carpet');
    await table.getByLabel('With').selectOption(String(revision));
    await shows(table.locator('[data-differs]'), /Speed loop40 · 320 · 0.*33 · 300 · 0/);
    expect(await table.locator('[data-differs]').count()).to.equal(1);
    await shows(chassis, /No step of this loop was captured yet/);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await eventually(async () => (await field(page, 'Speed loop kp').inputValue()) === '33');
    await chassis.getByRole('button', { name: 'Load carpet' }).click();
    await shows(chassis, /carpet is running/);
    await shows(chassis.locator('.running'), /Revision \d+, carpet/);
    expect(await gainsOf()).to.deep.equal(carpet);
  });

  it('fits the width of a phone even if it compares a profile with a long name and long gains', async () => {
    const gains = { ...(await gainsOf()), speed: { kp: 48.400000000000006, ki: 320, kd: 0 } };
    await post('/api/chassis/profiles', { name: 'Semi-final left arena', gains, replace: true });
    const page = await open({ width: 390, height: 844, touch: true });
    await page.getByRole('button', { name: 'Speed loop', exact: true }).click();
    const chassis = card(page, 'Chassis');
    await chassis.getByText('Profiles').click();
    await chassis.getByLabel('With').selectOption('Semi-final left arena');
    await shows(chassis.locator('[data-differs]'), /48\.4000/);
    expect(await overflow(page)).to.equal(0);
    await field(page, 'Speed loop kp').fill('0.000123456789');
    const size = await page.evaluate<number>('parseFloat(getComputedStyle(document.activeElement).fontSize)');
    expect(size, 'the size of a gain with 14 characters').to.be.at.least(11);
  });

  it('retries a failed request for the profiles, and lists them without another click', async () => {
    await post('/api/chassis/profiles', { name: 'gravel', gains: await gainsOf() });
    const page = await open();
    const chassis = card(page, 'Chassis');
    await page.route('**/api/chassis/profiles', route => route.abort());
    await chassis.getByText('Profiles').click();
    await shows(chassis, /The daemon does not answer/);
    await page.unroute('**/api/chassis/profiles');
    await shows(chassis.locator('.profiles'), /gravel/);
    await eventually(async () => !/does not answer/.test((await chassis.textContent()) ?? ''));
    await post('/api/chassis/profiles/remove', { name: 'gravel' });
  });

  it('draws the captured steps of two revisions as percentages in one plot, even if their amplitudes differ', async () => {
    const soft = { ...(await gainsOf()), speed: { kp: 20, ki: 160, kd: 0 } };
    const hard = { ...soft, speed: { kp: 45, ki: 400, kd: 0 } };
    for (const [gains, amplitude] of [
      [soft, 0.1],
      [hard, 0.3],
    ] as const) {
      await post('/api/chassis/pidconfig', gains);
      await robot.excite('chassis', 'speed', amplitude, 0.8);
      const { revision } = (await get('/api/status')).body.chassis.gains;
      await eventually(async () => {
        const steps: { revision: number | null }[] = (await get('/api/chassis/steps?loop=speed')).body;
        return steps.some(step => step.revision === revision);
      });
    }
    await robot.excite('chassis', 'speed', 0, 0.8);
    const page = await open();
    const chassis = card(page, 'Chassis');
    await chassis.getByText('Profiles').click();
    const table = chassis.getByRole('table', { name: 'Comparison' });
    const { revision } = (await get('/api/status')).body.chassis.gains;
    await table.getByLabel('Compare').selectOption(String(revision - 1));
    await table.getByLabel('With').selectOption(String(revision));
    await table.getByRole('button', { name: 'Speed loop' }).click();
    await shows(table.getByRole('row', { name: /Speed loop/ }), /\d ms.*\d ms/);
    const chart = chassis.getByRole('img', {
      name: 'Captured step in %, from the old setpoint to the new one',
    });
    await eventually(async () => (await coloursIn(page, '.unit .chart canvas')) === 'amber and blue');
    expect(await chart.isVisible()).to.equal(true);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await table.getByRole('button', { name: 'Position loop' }).click();
    await shows(chassis, /No step of this loop was captured yet/);
  });

  it('shows how the profiles in a file differ from the stored ones, and imports a profile only if its button "Keep" is pressed', async () => {
    const stored = { ...(await gainsOf()), speed: { kp: 40, ki: 320, kd: 0 } };
    const { status, text } = await post('/api/chassis/pidconfig', stored);
    expect(status, text).to.equal(200);
    await post('/api/chassis/profiles', { name: 'match', note: '', replace: true });
    const page = await open();
    await page.getByText('Files', { exact: true }).click();
    const download = page.waitForEvent('download');
    await press(page, 'Export profiles');
    const file = JSON.parse(await readFile(await (await download).path(), 'utf8'));
    const match = file.chassis.find((one: { name: string }) => one.name === 'match');
    expect(match.gains).to.deep.equal(stored);
    match.gains.speed.kp = 44;
    file.chassis = [match, { ...match, name: 'broken', gains: {} }];
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'p.json', mimeType: '', buffer: Buffer.from(JSON.stringify(file)) });
    const list = page.getByRole('list', { name: 'Profiles of the file' });
    await shows(
      list,
      /Chassis match differs from the one of this name: Speed loop 40 · 320 · 0 → 44 · 320 · 0/,
    );
    await shows(list.getByRole('alert'), /missing/);
    const storedMatch = async () =>
      (await get('/api/chassis/profiles')).body.find(
        (one: { profile: { name: string } }) => one.profile.name === 'match',
      ).profile.gains;
    expect(await storedMatch()).to.deep.equal(stored);
    await list.getByRole('button', { name: 'Keep match' }).click();
    await shows(list, /Kept\./);
    expect((await storedMatch()).speed.kp).to.equal(44);
    expect(await list.getByRole('button', { name: 'Keep broken' }).isDisabled()).to.equal(true);
  });

  it('shows no gains of the set that was chosen before until the comparison with the new choice has arrived', async () => {
    await post('/api/chassis/pidconfig', { ...(await gainsOf()), speed: { kp: 34, ki: 300, kd: 0 } });
    const page = await open();
    const chassis = card(page, 'Chassis');
    await chassis.getByText('Profiles').click();
    const table = chassis.getByRole('table', { name: 'Comparison' });
    const row = table.getByRole('row', { name: /^Speed loop/ });
    const { revision } = (await get('/api/status')).body.chassis.gains;
    await table.getByLabel('Compare').selectOption(String(revision));
    await table.getByLabel('With').selectOption(String(revision));
    await shows(row, /^Speed loop34 · 300 · 034 · 300 · 0/);
    let release = () => {};
    const held = new Promise<void>(resolve => {
      release = resolve;
    });
    await page.route('**/api/chassis/compare?*', async route => {
      await held;
      await route.continue();
    });
    const requested = page.waitForRequest(/compare/);
    await table.getByLabel('Compare').selectOption('0');
    await requested;
    await page.evaluate('new Promise(requestAnimationFrame)');
    expect(await row.textContent()).to.equal('Speed loop');
    release();
    await shows(row, /^Speed loop40 · 320 · 0.*34 · 300 · 0/);
  });
});
