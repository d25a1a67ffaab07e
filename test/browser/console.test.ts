import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../support/browser.js';
import { call } from '../support/daemon.js';
import {
  alerts,
  card,
  consoleInBrowser,
  eventually,
  field,
  has,
  mode,
  overflow,
  press,
  save,
  shows,
} from './console-page.js';

describe('the console in a browser', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, post, truth, fault } = robot;
  let page: Page;

  beforeEach(async () => {
    page = await open();
  });

  /** Waits until the page has received this many telemetry events. 50 come in a second. */
  const framesPass = (count: number) =>
    page.evaluate(`new Promise(done => {
      const stream = new EventSource('/api/events');
      let left = ${count};
      stream.addEventListener('telemetry', () => {
        left -= 1;
        if (left === 0) done(stream.close());
      });
    })`);
  const noteOf = (of: Page, pointer: string) => of.locator(`#note-${pointer}`);

  it('comes in at most 10 requests and 80 KB, all from the daemon, and complains of nothing', async () => {
    const requests: string[] = [];
    let bytes = 0;
    const context = await robot.browser.newContext();
    const fresh = await context.newPage();
    const devtools = await context.newCDPSession(fresh);
    await devtools.send('Network.enable');
    // The requests of the page to the daemon.
    const others = new Set<string>();
    devtools.on('Network.responseReceived', ({ requestId, response }) => {
      if (/^\/api\//.test(new URL(response.url).pathname)) others.add(requestId);
    });
    devtools.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      if (!others.has(requestId)) bytes += encodedDataLength;
    });
    fresh.on('request', request => requests.push(request.url()));
    await fresh.goto(robot.url);
    await shows(fresh.locator('.link'), /Live/);
    await eventually(() => field(fresh, 'Speed loop kp').isEnabled());
    expect(requests, requests.join(' ')).to.have.length.of.at.most(10);
    expect(requests.filter(request => !request.startsWith(robot.url))).to.deep.equal([]);
    expect(bytes).to.be.greaterThan(20_000).and.lessThan(82_500);
    expect(robot.complaints).to.deep.equal([]);
    expect(await fresh.locator('.badge').textContent()).to.equal('SIMULATED');
  });

  it('lights the laser and darkens it, by the button and from within a field by L', async () => {
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

  it('saves an edit, and says what it changed', async () => {
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
    await shows(card(page, 'Chassis'), /Saved: Speed loop kp/);
    await shows(card(page, 'Chassis').locator('.running'), /Revision \d+.*running/);
    expect((await call(robot.url, 'GET', '/api/chassis/pidconfig')).body.speed.kp).to.equal(0.109);
    expect(await page.evaluate('document.activeElement.textContent')).to.match(/^Keep/);
    expect((await truth()).chassis.gains.speed.kp).to.be.closeTo(0.109, 1e-6);
    expect(await save(page, 'Chassis').isDisabled()).to.equal(true);
  });

  it('restores a revision from the history, and goes back to its snapshot with one press', async () => {
    const first = await call(robot.url, 'GET', '/api/gimbal/pidconfig');
    const changed = { ...first.body, visual_yaw: { kp: 0.25, ki: 1, kd: 0 } };
    await post('/api/gimbal/pidconfig', changed);
    await post('/api/gimbal/pidconfig', { ...changed, visual_yaw: { kp: 0.5, ki: 1, kd: 0 } });
    await card(page, 'Gimbal').getByText('History').click();
    await shows(card(page, 'Gimbal').locator('.history tbody').first(), /Visual loop, yaw.*kp.*0\.25.*0\.5/);
    await eventually(async () => (await field(page, 'Visual loop, yaw kp').inputValue()) === '0.5');
    await card(page, 'Gimbal')
      .getByRole('button', { name: /Restore revision/ })
      .first()
      .click();
    await shows(card(page, 'Gimbal'), /is running again/);
    expect((await call(robot.url, 'GET', '/api/gimbal/pidconfig')).body).to.deep.equal(changed);
    expect(await field(page, 'Visual loop, yaw kp').inputValue()).to.equal('0.25');
    await press(page, 'Back to snapshot');
    await shows(page.locator('.tuning'), /differences from the snapshot of .* are edits now/);
    await shows(card(page, 'Gimbal').locator('.changes'), /yaw kp 0.25 → 0.3/);
    await save(page, 'Gimbal').click();
    await shows(card(page, 'Gimbal'), /Saved: Visual loop, yaw kp/);
    expect((await call(robot.url, 'GET', '/api/gimbal/pidconfig')).body).to.deep.equal(first.body);
  });

  it('exports all gains to a file that comes back exactly', async () => {
    await page.getByText('Files', { exact: true }).click();
    const exportFile = async () => {
      const download = page.waitForEvent('download');
      await press(page, 'Export');
      return readFile(await (await download).path(), 'utf8');
    };
    const text = await exportFile();
    expect(JSON.parse(text).chassis).to.deep.equal(
      (await call(robot.url, 'GET', '/api/chassis/pidconfig')).body,
    );
    await field(page, 'Position loop ki').fill('0.3');
    await save(page, 'Chassis').click();
    await shows(card(page, 'Chassis'), /Saved/);
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.json', mimeType: '', buffer: Buffer.from(text) });
    await shows(page.locator('.tuning'), /1 differences? from a.json/);
    await save(page, 'Chassis').click();
    await shows(card(page, 'Chassis'), /Saved: Position loop ki 0\.3 → /);
    expect(await exportFile()).to.equal(text);
  });

  it('says that a controller is offline, and refuses in words at the thing that failed', async () => {
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
    await field(page, 'Speed loop ki').fill('3');
    await save(page, 'Chassis').click();
    await shows(card(page, 'Chassis').getByRole('alert'), /offline/);
    expect(await field(page, 'Speed loop ki').inputValue()).to.equal('3');
    await fault('chassis', 'plug');
    await eventually(async () => !/Chassis is offline/.test((await alerts(page).textContent()) ?? ''));
  });

  it('stops by Escape from within a field, refuses kindly meanwhile, and resumes', async () => {
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

  it('captures steps in debug, and draws the step of the gains before under the current one', async () => {
    await mode(page, 'Gimbal', 'debug').click();
    const panel = page.getByRole('region', { name: 'Step response' });
    await eventually(() => panel.getByLabel(/Amplitude/).isEnabled());
    await panel.getByLabel(/Amplitude/).fill('0.1');
    await panel.getByLabel(/Period/).fill('0.6');
    await panel.getByRole('button', { name: 'Send test steps', exact: true }).click();
    const figures = panel.locator('.reading');
    await shows(figures.locator('tbody td').first(), /%/);
    const kp = field(page, 'Angle loop, yaw kp');
    await kp.fill(String(Number(await kp.inputValue()) / 2));
    await save(page, 'Gimbal').click();
    await shows(figures.locator('thead'), /Compared with/);
    expect(await figures.locator('tbody td').allTextContents()).to.not.include('');
    await panel.getByLabel(/Amplitude/).fill('50');
    await panel.getByRole('button', { name: 'Send test steps', exact: true }).click();
    await shows(panel.getByRole('alert'), /Amplitude must be at most 0.5/);
  });

  it('pauses, zooms and gives what it shows as CSV', async () => {
    const plot = page.getByRole('region', { name: 'Plot' });
    const shown = async () => {
      const download = page.waitForEvent('download');
      await plot.getByRole('button', { name: 'CSV' }).click();
      const file = await download;
      expect(file.suggestedFilename()).to.match(/^chassis-speed-rev\d+-20\d\d-.*\.csv$/);
      return (await readFile(await file.path(), 'utf8')).trim().split('\r\n');
    };
    const seconds = (lines: string[]) => Number.parseFloat(lines.at(-1)!) - Number.parseFloat(lines[4]!);
    await page.getByRole('button', { name: 'Speed loop', exact: true }).click();
    await framesPass(75);
    const over = (await plot.locator('.u-over').boundingBox())!;
    await page.mouse.move(over.x + over.width * (1 - 1 / 15), over.y + 50);
    await page.mouse.down();
    await page.mouse.move(over.x + over.width - 2, over.y + 60);
    await page.mouse.up();
    await shows(plot, /Go on/);
    const zoomed = await shown();
    expect(zoomed.slice(0, 4).join('\n')).to.match(
      /^# robot 127.*\n# chassis speed, revision \d+, kp .* ki .* kd .*\n# t_s is seconds before .*\nt_s,setpoint_m\/s,measured_m\/s$/,
    );
    expect(seconds(zoomed)).to.be.within(0.5, 1);
    expect((await shown()).slice(3)).to.deep.equal(zoomed.slice(3));
    await plot.getByRole('button', { name: 'Go on' }).click();
    await shows(plot, /Pause/);
  });

  it('lets a stop through with more windows open than the browser has connections', async () => {
    const context = page.context();
    const windows = [page];
    while (windows.length < 8) {
      const another = await context.newPage();
      await another.goto(robot.url);
      windows.push(another);
    }
    // With eight streams on six connections, a request would wait for ever.
    await windows[2]!.locator('.stop').click();
    await eventually(async () => (await truth()).gimbal.stopped === true);
  });

  it('is used without a mouse', async () => {
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
  });

  it('has no serious fault of accessibility in either scheme, and fits 380 px', async () => {
    for (const colorScheme of ['dark', 'light'] as const) {
      const phone = await open({ width: 380, colorScheme });
      await press(phone, 'Speed loop');
      await card(phone, 'Chassis').getByText('History').click();
      await field(phone, 'Speed loop kp').fill('5000');
      await field(phone, 'Speed loop kd').fill('x');
      await post('/api/laser', { action: 'on' });
      await post('/api/chassis/mode/switch', { mode: 'debug' });
      await has(mode(phone, 'Chassis', 'debug'), 'aria-pressed', 'true');
      expect(await accessibilityFaults(phone)).to.deep.equal([]);
      expect(await overflow(phone)).to.be.at.most(0);
      await phone.mouse.wheel(0, 5000);
      await phone.locator('.stop').click();
      await shows(alerts(phone), /Stopped/);
      expect(await accessibilityFaults(phone)).to.deep.equal([]);
      const shown = await phone.evaluate(`[...document.querySelectorAll('.gain input')]
        .filter(one => one.checkVisibility()).map(one => one.ariaLabel)`);
      expect(shown).to.deep.equal(['Speed loop kp', 'Speed loop ki', 'Speed loop kd']);
      const wide = await open({ colorScheme });
      expect(await accessibilityFaults(wide)).to.deep.equal([]);
    }
  });
});
