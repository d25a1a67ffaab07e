import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { accessibilityFaults } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { card, consoleInBrowser, press, shows } from './console-page.js';

describe('profiles on the page', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, get, post } = robot;
  const gainsOf = async () => (await get('/api/chassis/pidconfig')).body;

  it('are kept, starred, compared and loaded', async () => {
    const carpet = await gainsOf();
    const page = await open();
    const chassis = card(page, 'Chassis');
    await chassis.getByText('Profiles').click();
    await chassis.getByLabel('Name of the profile').fill('carpet');
    await chassis.getByLabel('Note').fill('soft and slow');
    await chassis.getByRole('button', { name: 'Save as' }).click();
    await shows(chassis.locator('.profiles'), /carpet .*soft and slow/);
    await chassis.getByRole('button', { name: 'Save as' }).click();
    await shows(chassis.getByRole('alert'), /called carpet already/);
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
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await chassis.getByRole('button', { name: 'Load carpet' }).click();
    await shows(chassis, /carpet is running/);
    expect(await gainsOf()).to.deep.equal(carpet);
  });

  it('go into a file and come back set by set, with the difference first', async () => {
    const stored = await gainsOf();
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
    expect((await get('/api/chassis/profiles')).body.length).to.be.lessThan(3);
    await list.getByRole('button', { name: 'Keep match' }).click();
    await shows(list, /Kept\./);
    const kept = (await get('/api/chassis/profiles')).body.find(
      (one: { profile: { name: string } }) => one.profile.name === 'match',
    );
    expect(kept.profile.gains.speed.kp).to.equal(44);
    expect(await list.getByRole('button', { name: 'Keep broken' }).isDisabled()).to.equal(true);
  });
});
