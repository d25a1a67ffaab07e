import { expect } from 'chai';
import type { Browser, Locator, Page } from 'playwright-core';
import { accessibilityFaults, openBrowser } from '../support/browser.js';
import { Child } from '../support/child.js';
import { call } from '../support/daemon.js';
import {
  eventually,
  has,
  middleOf,
  nowMs,
  posts,
  press,
  recordPosts,
  sentMs,
  shows,
} from './console-page.js';

const ROBOTS = ['Robot 1', 'Robot 2'];
/** A button that stays grey for this long is not pressed. */
const PRESS_MS = 5000;

describe('the desk page', function () {
  this.timeout(90_000);
  let browser: Browser | undefined;
  let field: Child | undefined;
  let url = '';

  const status = async () => (await call(url, 'GET', '/api/status')).body;
  const tile = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
  const open = async (width = 1440, height = 900, hash = '') => {
    if (browser === undefined) throw new Error('not started');
    const context = await browser.newContext({ viewport: { width, height }, colorScheme: 'dark' });
    const page = await context.newPage();
    await page.goto(`${url}/${hash}`);
    return page;
  };
  const opened = async (width?: number, height?: number) => {
    const page = await open(width, height);
    for (const name of ROBOTS) await shows(tile(page, name), /torque/);
    return page;
  };
  /** Does this, and again if the desk refuses it because the press or a robot is late, until it has come to this. */
  const insisted = async (page: Page, act: () => Promise<void>, has: () => Promise<boolean>) => {
    // The press before may have come through, so that the button is grey.
    const isPressed = () =>
      act().then(
        () => true,
        () => false,
      );
    let hasPressed = await isPressed();
    await eventually(async () => {
      if (await has()) return true;
      // One line always says that this desk has no tokens.
      if (!hasPressed || (await page.locator('.desk-lines p').count()) > 1) hasPressed = await isPressed();
      return false;
    });
  };
  /** Presses this button until the part shows this text. */
  const begin = (page: Page, name: string, part: Locator, pattern: RegExp) =>
    insisted(
      page,
      () => page.getByRole('button', { name, exact: true }).click({ timeout: PRESS_MS }),
      async () => pattern.test((await part.textContent()) ?? ''),
    );
  const unlock = async (page: Page) => {
    const button = page.locator('.unlock');
    await eventually(async () => (await button.getAttribute('aria-disabled')) === null);
    const act = async () => {
      await button.click({ timeout: PRESS_MS });
      await button.click({ timeout: PRESS_MS });
    };
    await insisted(page, act, async () =>
      (await status()).robots.every((one: { lock: unknown }) => one.lock === null),
    );
  };
  const isLocked = async () => {
    const { lock, robots } = await status();
    return lock?.confirmed === 2 && robots.every((one: { locking: string }) => one.locking === 'confirmed');
  };
  const pit = (page: Page) => tile(page, 'Robot 1').getByRole('button', { name: 'Pit' });
  let moves = 0;
  const moveTo = (place: string) => {
    moves += 1;
    return call(url, 'POST', '/api/robots/place', { robot: 'Robot 1', place, press: `move ${moves}` });
  };

  before(async function () {
    browser = await openBrowser(this);
    field = new Child('sim/field.js', ['--simulate', '2', '--port', '0']);
    [, url = ''] = await field.line(/listening on (http:[^"]+)/);
  });
  after(async () => {
    await browser?.close();
    await field?.kill('SIGTERM');
  });
  afterEach(async () => {
    for (const context of browser?.contexts() ?? []) await context.close();
  });

  it('locks all robots when Escape or Space is pressed, even if a button has the focus, and unlocks them only at the second press of "Unlock"', async () => {
    const page = await opened();
    await page.keyboard.press('Escape');
    await eventually(isLocked);
    await shows(page.locator('.lock-state'), /LOCKED: all 2, by /);
    for (const name of ROBOTS)
      await shows(tile(page, name), /LOCKED by.*no match · stopped · dark.*torque off/s);
    const button = page.locator('.unlock');
    // The browser keeps a limited number of times, and the page asks often.
    await page.evaluate('performance.clearResourceTimings()');
    await button.click();
    await shows(button, /press again/);
    expect((await status()).lock).to.not.equal(null);
    const againMs = await nowMs(page);
    await button.click();
    await eventually(async () => (await status()).lock === null);
    const sent = () => sentMs(page, '/api/unlock');
    await eventually(async () => (await sent()).length > 0);
    expect((await sent()).map(ms => ms >= againMs)).to.deep.equal([true]);
    const matches = page.getByRole('listbox', { name: 'Match' });
    for (const [act, key] of [
      [() => page.getByRole('button', { name: 'Load' }).focus(), 'Space'],
      [() => matches.focus(), 'Space'],
      // An open list of a browser would take the keys.
      [() => matches.click(), 'Space'],
      [() => matches.click(), 'Escape'],
    ] as const) {
      await act();
      await page.keyboard.press(key);
      await eventually(isLocked);
      expect((await status()).match).to.equal(null);
      await unlock(page);
    }
  });

  it('asks for two presses of "Unlock" again if a newer lock takes the place of the lock for which the first press was', async () => {
    const page = await opened();
    await page.keyboard.press('Escape');
    await eventually(isLocked);
    const button = page.locator('.unlock');
    await button.click();
    await shows(button, /press again/);
    await page.keyboard.press('Escape');
    // After 4 s without a second press, the button would say "Unlock" anyway.
    await button.filter({ hasNotText: 'press again' }).waitFor({ timeout: 3000 });
    await button.click();
    await shows(button, /press again/);
    expect((await status()).lock).to.not.equal(null);
    await button.click();
    await eventually(async () => (await status()).lock === null);
  });

  it('runs a match with the buttons "Load", "Start", "Pause", "Go on", "End" and "Release", and shows the phase that each press begins', async () => {
    const page = await opened();
    const panel = page.getByRole('region', { name: 'Match' });
    await begin(page, 'Load', panel, /practice pre.*Nothing lacks/s);
    await begin(page, 'Start', panel, /autonomous 0:\d\d/);
    for (const name of ROBOTS) await shows(tile(page, name), /autonomous/);
    await press(page, 'Pause');
    await shows(panel, /pause 0:\d\d left of autonomous.*Nothing lacks/s);
    await page.getByLabel('Seconds left').fill('200');
    await begin(page, 'Go on', panel, /autonomous 3:\d\d/);
    await press(page, 'End');
    await page.getByRole('button', { name: /End.*press again/s }).click();
    await shows(panel, /ended/);
    await begin(page, 'Release', panel, /released/);
    for (const name of ROBOTS) await shows(tile(page, name), /no match/);
  });

  it('has an audience screen (#screen) without buttons, which shows "LOCKED" when a referee locks the robots', async () => {
    const referee = await opened();
    const screen = await open(1440, 900, '#screen');
    await shows(screen.locator('.screen'), /No match is loaded|practice/);
    await referee.keyboard.press('Escape');
    await shows(screen.locator('.screen'), /LOCKED/);
    expect(await screen.getByRole('button').count()).to.equal(0);
    await unlock(referee);
  });

  for (const width of [320, 820, 1440])
    it(`clips no robot name and no button label at a width of ${width} px`, async () => {
      const page = await opened(width, 900);
      const cut = await page
        .locator('.tile h2, .tile button, .presses button, .lock-all, .unlock')
        .evaluateAll(parts =>
          parts
            .filter(part => part.scrollWidth > part.clientWidth || part.scrollHeight > part.clientHeight)
            .map(part => part.textContent),
        );
      expect(cut).to.deep.equal([]);
    });

  for (const [width, height] of [
    [1440, 900],
    [820, 1180],
  ] as const) {
    it(`shows 20 robots without scrolling on a screen of ${width} x ${height} px, and has no serious accessibility fault`, async () => {
      const page = await open(width, height);
      await page.route('**/api/status*', async route => {
        const response = await route.fetch();
        const view = await response.json();
        const robots = Array.from({ length: 20 }, (_, index) => ({ ...view.robots[0], name: `R ${index}` }));
        await route.fulfill({ response, json: { ...view, robots } });
      });
      await eventually(async () => (await page.locator('.tile').count()) === 20);
      const bottomOf = async (part: Locator) => {
        const box = await part.boundingBox();
        return (box?.y ?? 0) + (box?.height ?? 0);
      };
      expect(await bottomOf(page.locator('.tile').last())).to.be.at.most(height);
      if (width > height)
        expect(await bottomOf(page.getByRole('form', { name: 'Robots' }))).to.be.at.most(height);
      expect(await accessibilityFaults(page)).to.deep.equal([]);
    });
  }

  it('presses a button once while Enter is held on it, so that a held key is no second press', async () => {
    const page = await opened();
    await recordPosts(page);
    const takeOver = page.getByRole('button', { name: /^Take over/ });
    for (const button of [takeOver, pit(page)]) {
      await button.focus();
      // Playwright repeats a key that is down already.
      for (let times = 0; times < 5; times += 1) await page.keyboard.down('Enter');
      await page.keyboard.up('Enter');
    }
    await shows(takeOver, /press again/);
    expect(await posts(page)).to.deep.equal(['/api/robots/place']);
    await has(pit(page), 'aria-pressed', 'true');
    await moveTo('field');
  });

  it('ignores a press of "Pit" during which another page moves the robot to the pit', async () => {
    await moveTo('field');
    const page = await opened();
    await recordPosts(page);
    await has(pit(page), 'aria-pressed', 'false');
    const { x, y } = await middleOf(pit(page));
    await page.mouse.move(x, y);
    await page.mouse.down();
    await moveTo('pit');
    await has(pit(page), 'aria-pressed', 'true');
    await page.mouse.up();
    expect(await posts(page)).to.deep.equal([]);
    await pit(page).click();
    await has(pit(page), 'aria-pressed', 'false');
  });
});
