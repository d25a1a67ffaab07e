import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import {
  clipped,
  consoleInBrowser,
  eventually,
  has,
  LANDSCAPE,
  PHONE,
  placesOf,
  shows,
} from './console-page.js';

const TABLET = { width: 820, height: 1180, touch: true } as const;
const LONG = 'Quarter-final-3-Red-Dragons-against-the-Blue-Foxes';
const REASON =
  'There are people on the field, and the door of the net is open: wait for the marshal at the gate.';

/** What a person must be able to see and reach without scrolling. */
describe('the console', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, post } = robot;
  let revision = 0;
  const begin = (phase: string) => {
    revision += 1;
    return post('/api/match', { id: LONG, revision, phase, remainingS: null });
  };
  /** Reloads the page as one of a person with these rights. */
  const become = async (page: Page, rights: readonly string[], name = 'Anna') => {
    const json = { access: 'closed', name, role: 'referee', rights, simulated: true };
    await page.route('**/api/session', route => route.fulfill({ json }));
    await page.reload();
    await shows(page.locator('.link'), /Live/);
  };
  /** Nothing covers the middle of the element. */
  const isInSight = (one: Locator) =>
    one.evaluate(element => {
      const { left, top, width, height } = element.getBoundingClientRect();
      const at = element.ownerDocument.elementFromPoint(left + width / 2, top + height / 2);
      return at !== null && element.contains(at);
    });

  beforeEach(() => post('/api/match/lease', { holder: 'desk', ttlMs: 60_000 }));
  afterEach(async () => {
    await post('/api/match/unlock');
    await begin('none');
  });

  for (const size of [PHONE, LANDSCAPE])
    it(`on a phone of ${size.width} x ${size.height} px shows a referee the "Off" button of the laser at the same place in every phase`, async () => {
      const page = await open(size);
      await become(page, ['read', 'rule']);
      const off = page.locator('.laser').getByRole('button', { name: 'Off' });
      await page.locator('.referee').waitFor();
      const place = await off.boundingBox();
      const look = async () => {
        expect(await off.boundingBox()).to.deep.equal(place);
        expect(await isInSight(off)).to.equal(true);
        expect(await isInSight(page.getByRole('button', { name: 'LOCK', exact: true }))).to.equal(true);
      };
      await look();
      for (const phase of ['pre', 'auto', 'pause', 'teleop', 'ended']) {
        await begin(phase);
        await shows(page.locator('.match-board strong'), new RegExp(phase === 'auto' ? 'autonomous' : phase));
        await look();
      }
      await post('/api/match/lock', { reason: REASON });
      await shows(page.locator('.match-board'), /LOCKED by/);
      await look();
    });

  for (const size of [PHONE, LANDSCAPE, TABLET, { width: 1440, height: 900 }])
    it(`in a window of ${size.width} x ${size.height} px shows the phase (on one line) and the lock even if the match has a long name`, async () => {
      await begin('pre');
      await post('/api/match/lock', { reason: REASON });
      const page = await open(size);
      await shows(page.locator('.match-board'), /LOCKED by/);
      const seen = await page.evaluate(`(() => {
        const box = one => document.querySelector(one).getBoundingClientRect();
        const [board, phase, lock] = ['.match-board', '.match-board strong', '.match-board .said'].map(box);
        return {
          rows: Math.round(phase.height / parseFloat(getComputedStyle(document.querySelector('strong')).lineHeight)),
          lock: lock.top + 15 < board.bottom && lock.width > 100,
        };
      })()`);
      expect(seen).to.deep.equal({ rows: 1, lock: true });
    });

  it('in the match view of a phone in landscape shows the token field, "Log in" and "Full page" to a person without a token', async () => {
    const page = await open(LANDSCAPE);
    await become(page, []);
    for (const one of [page.getByLabel('Token'), page.getByRole('button', { name: 'Log in' })])
      expect(await isInSight(one)).to.equal(true);
    const link = page.getByRole('link', { name: 'Full page' });
    expect(await isInSight(link)).to.equal(true);
    const [from, to] = [(await link.boundingBox())!, (await page.locator('.stop').boundingBox())!];
    expect(to.y - (from.y + from.height)).to.be.greaterThan(150);
  });

  it('does not hide the focused element behind the top bar when a person moves the focus with Tab or Shift+Tab', async () => {
    const page = await open({ width: 1440, height: 900 });
    const bottom = await page.evaluate<number>(
      `document.querySelector('.bar').getBoundingClientRect().bottom`,
    );
    await page.locator('#panels button').first().focus();
    for (const [key, count] of [
      ['Tab', 70],
      ['Shift+Tab', 50],
    ] as const)
      for (let index = 0; index < count; index += 1) {
        await page.keyboard.press(key);
        const top = await page.evaluate<number>(
          `document.activeElement === document.body || document.activeElement.closest('.bar, .skip')
            ? Infinity : document.activeElement.getBoundingClientRect().bottom`,
        );
        expect(top, `${key} ${index}`).to.be.greaterThan(bottom);
      }
  });

  it('shows the role of the logged-in person even if the name of the person is very long', async () => {
    const page = await open({ width: 1440, height: 900 });
    await become(page, ['read', 'drive', 'tune'], 'Wolfgang-Amadeus-Hieronymus-von-und-zu-Hohenstein');
    expect(await clipped(page, '.person')).to.deep.equal([]);
    await shows(page.locator('.person'), /\(referee\)/);
  });

  it('shows the whole labels of STOP and of the mode buttons in windows from 610 to 1440 px wide', async () => {
    const page = await open();
    for (const width of [610, 641, 720, 800, 1000, 1101, 1200, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      const buttons = '.bar :is(.segments, .stopping) button';
      expect(await clipped(page, buttons), `at ${width} px`).to.deep.equal([]);
    }
    await page.setViewportSize({ width: 190, height: 700 });
    expect((await page.locator('.stop').boundingBox())!.width).to.be.greaterThan(30);
  });

  it('moves no button or stick and clips no laser label if the daemon stops answering while the laser is lit', async () => {
    for (const size of [PHONE, LANDSCAPE]) {
      await post('/api/laser', { action: 'on' });
      const page = await open(size);
      await shows(page.locator('.lamp'), /LASER ON/);
      const places = () => placesOf(page, '.match button:not(.fold), .stick');
      const before = await places();
      robot.daemon.process.kill('SIGSTOP');
      await has(page.locator('html'), 'data-stale', '');
      await shows(page.locator('.lamp'), /unknown \(was on\)/);
      const after = await places();
      const cut = await clipped(page, '.lamp');
      robot.daemon.process.kill('SIGCONT');
      expect(after).to.deep.equal(before);
      expect(cut).to.deep.equal([]);
      await page.context().close();
    }
  });

  it('on a phone does not move the button "Got it" of an alert when a second alert makes the button "All" appear', async () => {
    const page = await open({ width: 390, height: 844, touch: true });
    const got = page.locator('.strip li').first().getByRole('button', { name: 'Got it' });
    await robot.fault('gimbal', 'brownout');
    await shows(page.locator('.strip li').first(), /Gimbal restarted/);
    // The line about the lost contact, which is before it, ends after a second.
    await page.locator('.fold').waitFor({ state: 'detached' });
    const place = (await got.boundingBox())!;
    expect(place.x + place.width).to.be.closeTo(390 - 12, 1);
    await robot.fault('chassis', 'brownout');
    await shows(page.locator('.fold'), /All 2/);
    await shows(page.locator('.strip li').first(), /Gimbal restarted/);
    expect(await got.boundingBox()).to.deep.equal(place);
    for (const count of [1, 0]) {
      await got.tap();
      await eventually(async () => (await page.locator('.strip li').count()) === count);
    }
  });

  it('shows a spectator the mode buttons at full opacity, although a spectator cannot press them', async () => {
    const page = await open(PHONE);
    await become(page, ['read']);
    const manual = page.getByRole('button', { name: 'manual' }).first();
    await has(manual, 'aria-disabled', 'true');
    expect(await page.evaluate(`getComputedStyle(document.querySelector('.modes button')).opacity`)).to.equal(
      '1',
    );
  });

  it('shows how late the answers are, instead of "Live", while the daemon takes 1.1 s to answer', async () => {
    const page = await open(PHONE);
    await page.route('**/healthz', async route => {
      await new Promise(resolve => setTimeout(resolve, 1100));
      await route.continue();
    });
    await shows(page.locator('.link'), /^Answers \d\.\d s late$/);
    await has(page.locator('.link'), 'data-state', 'doing');
  });

  it('shows "STOPPED, chassis silent" instead of "STOPPED, confirmed" after a stop while the chassis is unplugged', async () => {
    const page = await open(PHONE);
    await robot.fault('chassis', 'unplug');
    await shows(page.locator('.strip'), /Chassis is offline/);
    await post('/api/stop');
    await shows(page.locator('.middle p'), /^STOPPED, (NOT CONFIRMED|chassis silent)$/);
    await shows(page.locator('.middle p'), /^STOPPED, chassis silent$/);
  });
});
