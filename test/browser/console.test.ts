import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import {
  alerts,
  card,
  consoleInBrowser,
  eventually,
  field,
  has,
  mode,
  press,
  save,
  shows,
} from './console-page.js';

describe('the console', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, get, post, truth, fault } = robot;
  let page: Page;

  beforeEach(async () => {
    page = await open();
  });

  const noteOf = (of: Page, pointer: string) => of.locator(`#note-${pointer}`);

  it('loads with at most 10 requests, all to the daemon, and without an error', async () => {
    const requests: string[] = [];
    const context = await robot.browser.newContext();
    const fresh = await context.newPage();
    fresh.on('request', request => requests.push(request.url()));
    await fresh.goto(robot.url);
    await shows(fresh.locator('.link'), /Live/);
    await eventually(() => field(fresh, 'Speed loop kp').isEnabled());
    expect(requests, requests.join(' ')).to.have.length.of.at.most(10);
    expect(requests.filter(request => !request.startsWith(robot.url))).to.deep.equal([]);
    expect(robot.complaints).to.deep.equal([]);
    expect(await fresh.locator('.badge').textContent()).to.equal('SIMULATED');
  });

  it('turns the laser on with the button "On", and off with the button "Off" or the key L, even if a gain field has the focus', async () => {
    const laser = page.getByRole('group', { name: 'Laser' });
    for (const darken of [
      () => laser.getByRole('button', { name: 'Off' }).click(),
      () => field(page, 'Speed loop kp').press('l'),
    ]) {
      await laser.getByRole('button', { name: 'On' }).click();
      await shows(laser, /LASER ON/);
      await eventually(async () => /LASER ON/.test(await page.title()));
      expect((await truth()).laser.level).to.equal(1);
      await darken();
      await shows(laser, /dark/);
      expect((await truth()).laser.level).to.equal(0);
    }
  });

  it('keeps an edited gain when the page is reloaded, and asks for a second press of the save button "Keep" if the edit is far from the saved gain', async () => {
    const kp = field(page, 'Speed loop kp');
    expect(await save(page, 'Chassis').count()).to.equal(0);
    const before = await kp.inputValue();
    await kp.fill('0.1');
    await shows(card(page, 'Chassis').locator('.changes'), new RegExp(`Speed loop kp ${before} → 0.1`));
    await shows(noteOf(page, 'chassis-speed-kp'), new RegExp(`stored ${before}`));
    await kp.press('ArrowUp');
    expect(await kp.inputValue()).to.equal('0.11');
    await kp.press('Alt+ArrowDown');
    expect(await kp.inputValue()).to.equal('0.109');
    await kp.press('Shift+ArrowUp');
    expect(await kp.inputValue()).to.equal('0.209');
    await kp.press('Shift+ArrowDown');
    await page.reload();
    await shows(noteOf(page, 'chassis-speed-kp'), new RegExp(`stored ${before}`));
    await save(page, 'Chassis').click();
    await shows(
      card(page, 'Chassis').getByRole('alert'),
      /^Far from the saved gains: Speed loop kp .* → 0\.109\. Press Keep again/,
    );
    // A press within half a second counts as a double press.
    await eventually(async () => {
      await save(page, 'Chassis').dispatchEvent('click');
      return /Saved: Speed loop kp/.test((await card(page, 'Chassis').textContent()) ?? '');
    });
    await shows(card(page, 'Chassis').locator('.running'), /Revision \d+.*running/);
    expect((await get('/api/chassis/pidconfig')).body.speed.kp).to.equal(0.109);
    expect(await page.evaluate('document.activeElement.textContent')).to.match(/^Keep/);
    expect((await truth()).chassis.gains.speed.kp).to.be.closeTo(0.109, 1e-6);
    expect(await save(page, 'Chassis').isDisabled()).to.equal(true);
  });

  it('restores an earlier revision of the gains, and its button "Gains at opening" fills in the gains from when the page was opened', async () => {
    const first = await get('/api/gimbal/pidconfig');
    const changed = { ...first.body, visual_yaw: { kp: 0.25, ki: 1, kd: 0 } };
    await post('/api/gimbal/pidconfig', changed);
    await post('/api/gimbal/pidconfig', { ...changed, visual_yaw: { kp: 0.5, ki: 1, kd: 0 } });
    const history = card(page, 'Gimbal').locator('.history');
    await card(page, 'Gimbal').getByText('History').click();
    expect(await history.evaluate(list => list.scrollWidth - list.clientWidth)).to.equal(0);
    await shows(history.locator('li').first(), /127\.0\.0\.1 Visual loop, yaw kp 0\.25 → 0\.5/);
    await eventually(async () => (await field(page, 'Visual loop, yaw kp').inputValue()) === '0.5');
    await card(page, 'Gimbal')
      .getByRole('button', { name: /Restore revision/ })
      .first()
      .click();
    await shows(card(page, 'Gimbal'), /Revision \d+ runs: the gains of revision \d+\./);
    expect((await get('/api/gimbal/pidconfig')).body).to.deep.equal(changed);
    expect(await field(page, 'Visual loop, yaw kp').inputValue()).to.equal('0.25');
    await press(page, 'Gains at opening');
    await shows(page.locator('.gains-panel'), /differences from the opening at .* are edits now/);
    await shows(card(page, 'Gimbal').locator('.changes'), /yaw kp 0.25 → 0.3/);
    await save(page, 'Gimbal').click();
    await shows(card(page, 'Gimbal'), /Saved: Visual loop, yaw kp/);
    expect((await get('/api/gimbal/pidconfig')).body).to.deep.equal(first.body);
  });

  it('exports all gains to a file, and imports exactly these gains from it', async () => {
    await page.getByText('Files', { exact: true }).click();
    const exportFile = async () => {
      const download = page.waitForEvent('download');
      await press(page, 'Export');
      return readFile(await (await download).path(), 'utf8');
    };
    const text = await exportFile();
    expect(JSON.parse(text).chassis).to.deep.equal((await get('/api/chassis/pidconfig')).body);
    await field(page, 'Position loop kp').fill('6.5');
    await save(page, 'Chassis').click();
    await shows(card(page, 'Chassis'), /Saved/);
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.json', mimeType: '', buffer: Buffer.from(text) });
    await shows(page.locator('.gains-panel'), /1 differences? from a.json/);
    await save(page, 'Chassis').click();
    await shows(card(page, 'Chassis'), /Saved: Position loop kp 6\.5 → /);
    expect(await exportFile()).to.equal(text);
  });

  it('says that a mode change or a save failed because the controller is offline, and keeps the unsaved edit', async () => {
    await fault('chassis', 'unplug');
    await shows(page.getByRole('group', { name: 'Chassis mode' }), /offline/);
    await shows(alerts(page), /Chassis is offline/);
    const lit = '[aria-label="Chassis mode"] [aria-pressed="true"]';
    const border = await page.evaluate(`getComputedStyle(document.querySelector('${lit}')).borderStyle`);
    expect(border).to.equal('dashed');
    await shows(card(page, 'Chassis').locator('.running'), /controller offline/);
    await page.getByRole('button', { name: 'Speed loop', exact: true }).first().click();
    await shows(page.getByRole('group', { name: 'Test steps' }), /Chassis is offline\./);
    await mode(page, 'Chassis', 'auto').click();
    await shows(alerts(page), /Chassis mode.*does not answer|Chassis mode.*offline/);
    await field(page, 'Speed loop ki').fill('300');
    await save(page, 'Chassis').click();
    await shows(card(page, 'Chassis').getByRole('alert'), /offline/);
    expect(await field(page, 'Speed loop ki').inputValue()).to.equal('300');
    await fault('chassis', 'plug');
    await eventually(async () => !/Chassis is offline/.test((await alerts(page).textContent()) ?? ''));
  });

  it('stops the robot when Escape is pressed in a gain field, disables modes, laser and test steps, and ends the stop at a press of the button "Resume"', async () => {
    await mode(page, 'Gimbal', 'auto').click();
    await field(page, 'Speed loop kp').press('Escape');
    await shows(alerts(page), /gimbal stopped \(confirmed\)/);
    expect((await truth()).gimbal.stopped).to.equal(true);
    for (const control of [
      mode(page, 'Gimbal', 'auto'),
      mode(page, 'Chassis', 'debug'),
      page.locator('.laser').getByRole('button', { name: 'On' }),
      page.getByRole('button', { name: 'Send test steps', exact: true }),
    ]) {
      await eventually(() => control.isDisabled());
    }
    expect(await page.evaluate('document.activeElement.ariaLabel')).to.equal('Speed loop kp');
    await press(page, 'Resume');
    await shows(alerts(page), /All well/);
    expect((await truth()).gimbal.stopped).to.equal(false);
    await page.locator('.stop').click();
    await shows(alerts(page), /Stopped/);
  });

  it('compares the newest test step with an earlier one after the gains are saved, and rejects test steps of more than 0.5 rad', async () => {
    await mode(page, 'Gimbal', 'debug').click();
    const panel = page.getByRole('region', { name: 'Step response' });
    await eventually(() => panel.getByLabel(/Amplitude/).isEnabled());
    const end = panel.getByRole('button', { name: 'End', exact: true });
    expect(await end.isDisabled()).to.equal(true);
    await panel.getByLabel(/Amplitude/).fill('0.1');
    await panel.getByLabel(/Period/).fill('0.6');
    await panel.getByRole('button', { name: 'Send test steps', exact: true }).click();
    await eventually(() => end.isEnabled());
    const figures = panel.locator('.reading');
    await shows(figures.locator('tbody td').first(), /%/);
    const kp = field(page, 'Angle loop, yaw kp');
    await kp.fill(String(Number(await kp.inputValue()) / 2));
    await save(page, 'Gimbal').click();
    await shows(figures.locator('thead'), /Run #/);
    expect(await figures.locator('tbody td').allTextContents()).to.not.include('');
    await panel.getByLabel(/Amplitude/).fill('50');
    await panel.getByRole('button', { name: 'Send test steps', exact: true }).click();
    await shows(panel.getByRole('alert'), /Amplitude must be at most 0.5/);
  });

  it('stops the robot even if open in 8 windows of a browser that opens at most 6 connections to the daemon', async () => {
    const context = page.context();
    const windows = [page];
    while (windows.length < 8) {
      const another = await context.newPage();
      await another.goto(robot.url);
      windows.push(another);
    }
    // A browser opens six connections at most. If all eight windows kept a stream, a request would wait for ever.
    await windows[2]!.locator('.stop').click();
    await eventually(async () => (await truth()).gimbal.stopped === true);
  });

  it('lets a person switch modes, choose a loop, edit and save its gains, and open the help with only the keyboard', async () => {
    const focused = () => page.evaluate<string>("document.activeElement.textContent ?? ''");
    const tabTo = async (holds: () => Promise<boolean>) => {
      for (let count = 0; count < 80 && !(await holds()); count += 1) await page.keyboard.press('Tab');
      expect(await holds()).to.equal(true);
    };
    await tabTo(async () => (await focused()) === 'auto');
    await page.keyboard.press('Enter');
    await has(mode(page, 'Gimbal', 'auto'), 'aria-pressed', 'true');
    const label = () => page.evaluate<string>("document.activeElement.getAttribute('aria-label')");
    await tabTo(async () => (await label()) === 'Position loop kp');
    await page.keyboard.press('ArrowDown');
    await tabTo(async () => /^Keep 1/.test(await focused()));
    await page.keyboard.press('Space');
    await shows(card(page, 'Chassis'), /Saved/);
    await page.keyboard.press('c');
    await page.keyboard.press('1');
    await eventually(async () => (await label()) === 'Speed loop kp');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Control+Enter');
    await shows(card(page, 'Chassis'), /Saved: Speed loop kp/);
    expect(await label()).to.equal('Speed loop kp');
    await page.keyboard.press('Tab');
    const list = page.getByRole('dialog');
    const focus = await focused();
    await page.keyboard.press('?');
    await shows(list, /choose a loop/);
    await page.waitForFunction("document.activeElement.matches('dialog')");
    await page.keyboard.press('?');
    await eventually(async () => (await list.count()) === 0);
    await eventually(async () => (await focused()) === focus);
    await page.keyboard.press('?');
    await list.waitFor();
    await page.keyboard.press('Escape');
    await shows(alerts(page), /Stopped at/);
    expect(await list.count()).to.equal(0);
    await press(page, 'Resume');
    await page.keyboard.press('?');
    await shows(list, /choose a loop/);
    await page.locator('.stop').click();
    await shows(alerts(page), /Stopped at/);
    await press(page, 'Close');
    await eventually(async () => (await page.getByRole('dialog').count()) === 0);
  });
});
