import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { call } from '../support/daemon.js';
import { alerts, consoleInBrowser, eventually, has, hide, press, shows } from './console-page.js';
import { holding } from './held-requests.js';

describe('the console and restarts, of a controller and of the daemon', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, fault } = robot;
  const note = async (page: Page) => {
    await press(page, 'Noted');
    await shows(alerts(page), /All well/);
  };

  /** The number of the last restart of the gimbal that the page has heard of. */
  const heard = (page: Page) =>
    page.evaluate<number>(`JSON.parse(localStorage.getItem('trunnion.restarts') ?? '[]')
      .find(({ unit }) => unit === 'gimbal')?.seq ?? 0`);
  /** A page on which a restart of the gimbal was noted. The log may have older ones. */
  const openNoted = async () => {
    const page = await open();
    const last = (await robot.get('/api/log?after=0')).body.events.at(-1)?.seq ?? 0;
    await fault('gimbal', 'brownout');
    await eventually(async () => (await heard(page)) > last);
    await note(page);
    return page;
  };

  it('keeps a restart of a controller in view until somebody takes note, with a reload between', async () => {
    const page = await open();
    await fault('gimbal', 'brownout');
    await shows(alerts(page), /Gimbal restarted \d\d:\d\d:\d\d, now manual/);
    await page.reload();
    await shows(alerts(page), /Gimbal restarted/);
    await note(page);
    await page.reload();
    await shows(alerts(page), /All well/);
  });

  it('keeps it in view over a restart of the daemon', async () => {
    const page = await open();
    await fault('gimbal', 'brownout');
    await shows(alerts(page), /Gimbal restarted/);
    const { port } = new URL(robot.url);
    await robot.daemon.kill();
    await robot.startDaemon(port);
    await page.reload();
    await shows(page.locator('.link'), /Live/);
    await shows(alerts(page), /Gimbal restarted/);
    await note(page);
  });

  it('keeps one in view that came while an older one, which was noted, was on its way', async () => {
    const page = await openNoted();
    const { asked, release } = await holding(page, /\/api\/log\?/, 'GET', 'after');
    await page.reload();
    await eventually(async () => asked.length >= 1);
    await shows(alerts(page), /All well/);
    await fault('gimbal', 'brownout');
    await shows(alerts(page), /Gimbal restarted/);
    release();
    const log = page.getByRole('region', { name: 'Log' });
    await log.getByText('Log').click();
    await eventually(async () => (await log.getByText('Gimbal reset').count()) > 1);
    expect(await alerts(page).textContent()).to.match(/Gimbal restarted/);
    await note(page);
  });

  it('hears of it from another tab, while it does not listen itself', async () => {
    const page = await openNoted();
    const other = await page.context().newPage();
    await other.goto(robot.url);
    await shows(other.locator('.link'), /Live/);
    await hide(page, true);
    await fault('gimbal', 'brownout');
    await shows(alerts(other), /Gimbal restarted/);
    await shows(alerts(page), /Gimbal restarted/);
    await note(other);
  });

  it('shows all that it knows where another version left a restart of a unit that it does not know', async () => {
    const page = await openNoted();
    await page.evaluate(`localStorage.setItem('trunnion.restarts', JSON.stringify(
      [{ seq: 1, at: '2026-11-21T10:00:00.000Z', what: 'reset', unit: 'arm' }],
    ))`);
    await page.reload();
    await shows(alerts(page), /All well/);
    await page.locator('.stop').click();
    await shows(alerts(page), /Stopped:/);
  });

  it('says all that it knows of a robot that has a loop which it does not know', async () => {
    const page = await open();
    const { body } = await call(robot.url, 'GET', '/api/status');
    const gimbal = { ...body.gimbal, excitation: { loop: 'roll', amplitude: 0.1, periodS: 1 } };
    const tune = { id: '1', unit: 'chassis', loop: 'lift', state: 'running', by: 'pit', words: ['begins'] };
    const events = [
      ['tune', { ...tune, unit: 'arm' }],
      ['tune', tune],
      ['status', { ...body, gimbal, laser: { light: 'fault' } }],
    ] as const;
    await page.route('**/api/events', route =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `retry: 50\n${events.map(([type, data]) => `event: ${type}\ndata: ${JSON.stringify(data)}\n\n`).join('')}`,
      }),
    );
    await page.reload();
    await shows(alerts(page), /LASER MAY BE ON: cut its supply/);
    await shows(alerts(page), /Gimbal roll ±0\.1 +every 1 s.*Chassis lift is tuned by pit: begins/);
  });

  it('says to load the page anew where a part of it is gone', async () => {
    const page = await open();
    await page.route('**/later-*', route => route.fulfill({ status: 404, json: { code: 'not-found' } }));
    await page.reload();
    await shows(page.getByRole('main'), /could not be fetched\. Load the page anew/);
  });

  it('says that it is of another version than the daemon, from the first status on, and loads anew when asked', async () => {
    const page = await open();
    expect(await alerts(page).textContent()).not.to.match(/another version/);
    const { body } = await call(robot.url, 'GET', '/api/status');
    await page.route('**/api/events', route =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `retry: 50\nevent: status\ndata: ${JSON.stringify({ ...body, version: '99.0.0' })}\n\n`,
      }),
    );
    // As after an update, with the page out of the browser's cache.
    await page.reload();
    await shows(alerts(page), /another version.*load it anew/);
    const reload = page.getByRole('button', { name: 'Load the page anew' });
    await page.evaluate("location.hash = '#match'");
    await shows(page.locator('.match .strip'), /another version/);
    expect(await reload.count()).to.equal(0);
    await page.evaluate("location.hash = ''");
    await has(reload, 'aria-disabled', null);
    const loaded = page.waitForEvent('load');
    // Looked at and pressed at one moment: it is disabled whenever the page hears nothing.
    await eventually(() =>
      reload.evaluate(button => {
        const isEnabled = !button.hasAttribute('aria-disabled');
        if (isEnabled) button.click();
        return isEnabled;
      }),
    );
    await loaded;
    await has(reload, 'aria-disabled', null);
    // Beside the route before, so that no stream of the daemon gets through between them.
    await page.route('**/api/events', route => route.abort());
    await has(reload, 'aria-disabled', 'true');
  });
});
