import { expect } from 'chai';
import type { Page, Request } from 'playwright-core';
import { alerts, consoleInBrowser, eventually, field, has, mode, press, shows } from './console-page.js';
import { delaying, holdingFirstOff } from './held-requests.js';

/** What was asked first may come last: each request has a connection of its own. What is heard may be old. */
describe('the console on a network that holds packets back', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, post, truth } = robot;

  it('takes a Resume back that is not answered yet when STOP is pressed, and says nothing of it', async () => {
    const page = await open();
    await post('/api/stop');
    await shows(alerts(page), /Stopped:/);
    const { isAsked, end } = await delaying(page, /resume/);
    await press(page, 'Resume');
    await isAsked();
    const answered = page.waitForResponse(/stop/);
    await page.locator('.stop').click();
    await answered;
    expect(await end()).to.equal('taken back');
    expect((await truth()).gimbal.stopped).to.equal(true);
    await has(page.locator('.resume'), 'aria-busy', null);
    expect(await alerts(page).textContent()).not.to.match(/Resume (?!puts)/);
  });

  it('takes the light back that is not on yet when it is switched off, or STOP is pressed', async () => {
    for (const off of [/^Off$/, /^STOP$/]) {
      const page = await open();
      const { isAsked, end } = await delaying(page, /laser/);
      await page.locator('.laser').getByRole('button', { name: 'On' }).click();
      await isAsked();
      const answered = page.waitForResponse(/laser|stop/);
      await page.getByRole('button', { name: off }).click();
      await answered;
      expect(await end()).to.equal('taken back');
      expect((await truth()).laser.level).to.equal(0);
      await page.context().close();
    }
  });

  const isOff = (request: Request) => /"off"/.test(request.postData() ?? '');

  it('takes an Off back that has no answer yet, and sends it no more, when light is asked for after it', async () => {
    const page = await open();
    // The test says when an Off is sent again, and no request is given up.
    await page.addInitScript(`
      const later = window.setTimeout;
      window.again = [];
      window.setTimeout = (act, ms) => ms === 500 ? again.push(act) : ms === 1500 ? 0 : later(act, ms);
    `);
    await page.reload();
    await shows(page.locator('.link'), /Live/);
    let offs = 0;
    await page.route(/laser/, async route => {
      if (isOff(route.request())) offs += 1;
      else await route.continue();
    });
    await page.getByRole('button', { name: 'Off', exact: true }).click();
    await eventually(async () => offs === 2);
    const takenBack = page.waitForEvent('requestfailed', isOff);
    await page.locator('.laser').getByRole('button', { name: 'On' }).click();
    await takenBack;
    await shows(page.locator('.lamp'), /LASER ON/);
    await page.evaluate('again.forEach(act => act())');
    await page.evaluate("fetch('/healthz')");
    expect(offs).to.equal(2);
    expect((await truth()).laser.level).to.equal(1);
  });

  it('takes a mode back that is not there yet when another is chosen', async () => {
    const page = await open();
    const { isAsked, end } = await delaying(page, /mode/);
    await mode(page, 'Chassis', 'auto').click();
    await isAsked();
    await mode(page, 'Chassis', 'debug').click();
    await has(mode(page, 'Chassis', 'debug'), 'aria-pressed', 'true');
    expect(await end()).to.equal('taken back');
    expect((await truth()).chassis.mode).to.equal('debug');
  });

  it('says that its stream is silent, and nothing of too many pages, where only requests are answered', async () => {
    const page = await open();
    await page.clock.install();
    await page.reload();
    await shows(alerts(page), /All well/);
    // A proxy that keeps what a stream brings.
    await page.route('**/api/events', () => undefined);
    await page.evaluate("window.dispatchEvent(new Event('pagehide'))");
    await page.clock.runFor(6000);
    await shows(page.locator('.link'), /^The stream is silent$/);
    await shows(alerts(page), /The stream is silent\. What you see is the last that was heard/);
    await page.unroute('**/api/events');
    await shows(page.locator('.link'), /Live/);
    await shows(alerts(page), /All well/);
  });

  it('asks for no STOP any more that it has had an answer to', async () => {
    const page = await open();
    const { isAsked, end } = await delaying(page, /stop/);
    await page.locator('.stop').click();
    await isAsked();
    await shows(alerts(page), /Stopped:/);
    await press(page, 'Resume');
    await shows(alerts(page), /All well/);
    expect(await end()).to.equal('taken back');
    expect((await truth()).gimbal.stopped).to.equal(false);
  });

  /** It hears no stream, so that a test may push its clock, and its requests are lost. */
  const cutOff = async () => {
    const page = await open();
    await page.clock.install();
    await page.reload();
    await shows(alerts(page), /All well/);
    await page.route('**/api/events', () => undefined);
    await page.evaluate("window.dispatchEvent(new Event('pagehide'))");
    await page.route(/api\/(stop|session|laser)/, route => route.abort());
    await shows(alerts(page), /No contact/);
    return page;
  };

  it('lets nothing move before a STOP that was given up without an answer, and sends what calms', async () => {
    const page = await cutOff();
    const auto = mode(page, 'Chassis', 'auto');
    await page.locator('.stop').click();
    await page.clock.runFor(11_000);
    await shows(alerts(page), /STOP is not confirmed/);
    const posted: string[] = [];
    page.on('request', request => /chassis/.test(request.url()) && posted.push(request.url()));
    await has(auto, 'aria-disabled', 'true');
    const kp = field(page, 'Speed loop kp');
    await kp.fill('20');
    await kp.press('Enter');
    await page.evaluate("fetch('/healthz')");
    expect(posted).to.deep.equal([]);
    const answered = page.waitForResponse(/chassis\/mode/);
    await mode(page, 'Chassis', 'manual').click();
    expect((await answered).status()).to.equal(200);
    await has(auto, 'aria-disabled', 'true');
    // Resume is the word of somebody who does not want it any more.
    await press(page, 'Resume');
    await has(auto, 'aria-disabled', null);
    await shows(alerts(page), /^(?!.*STOP is not confirmed)/);
  });

  const off = (page: Page) => page.getByRole('button', { name: 'Off', exact: true });
  const isKept = (page: Page) => page.evaluate<boolean>('window.onbeforeunload() === true');
  /** The network is there again. Whoever has lit the laser meanwhile is somebody else. */
  const comeBack = async (page: Page, action = 'on') => {
    await post('/api/laser', { action });
    await page.unroute(/api\/(stop|session|laser)/);
    await page.unroute('**/api/events');
    await page.evaluate("window.dispatchEvent(new Event('pagehide'))");
  };
  const staysLit = async (page: Page) => {
    const answered = page.waitForResponse(/session/);
    await comeBack(page);
    // It says who is here, and with it that the daemon is heard.
    await answered;
    await shows(page.locator('.lamp'), /LASER ON/);
    await page.evaluate("fetch('/healthz')");
    expect((await truth()).laser.level).to.equal(1);
  };

  it('sends an Off again that reached nobody, once the robot is heard, and does not forget it unasked', async () => {
    const page = await cutOff();
    expect(await isKept(page)).to.equal(false);
    await off(page).click();
    await page.clock.runFor(11_000);
    await shows(alerts(page), /Laser Off sent, asking again/);
    expect(await isKept(page)).to.equal(true);
    await comeBack(page);
    await eventually(async () => (await truth()).laser.level === 0);
    await eventually(async () => !(await isKept(page)));
    await shows(alerts(page), /^(?!.*Laser Off)/);
  });

  const isGivenUp = /Laser Off of [\d:]+ was not answered\. Press it again if it is still wanted\./;

  it('gives up an Off that reached nobody for a minute, and says so until the laser is heard to be dark', async () => {
    const page = await cutOff();
    await off(page).click();
    await page.clock.runFor(11_000);
    await page.clock.fastForward(30_000);
    await shows(alerts(page), /Laser Off sent, asking again/);
    await page.clock.fastForward(20_000);
    await shows(alerts(page), isGivenUp);
    expect(await isKept(page)).to.equal(false);
    await staysLit(page);
    await shows(alerts(page), isGivenUp);
    await post('/api/laser', { action: 'off' });
    await shows(alerts(page), /All well/);
  });

  it('gives up an Off that reached nobody before the device slept, whose other clock stood still meanwhile', async () => {
    const page = await cutOff();
    await off(page).click();
    await page.clock.runFor(11_000);
    await page.evaluate('{ const awake = Date.now; Date.now = () => awake() + 1_200_000; }');
    await staysLit(page);
    await shows(alerts(page), isGivenUp);
    await page.locator('.laser').getByRole('button', { name: 'On' }).click();
    await shows(alerts(page), /All well/);
  });

  it('says nothing of an Off that it gives up where it has heard that the laser is dark', async () => {
    const page = await cutOff();
    await off(page).click();
    await page.clock.runFor(11_000);
    await page.evaluate('{ const awake = Date.now; Date.now = () => awake() + 1_200_000; }');
    const answered = page.waitForResponse(/session/);
    await comeBack(page, 'off');
    await answered;
    await shows(page.locator('.link'), /Live/);
    await page.evaluate("fetch('/healthz')");
    await shows(alerts(page), /^(?!.*Laser Off)/);
    expect(await isKept(page)).to.equal(false);
  });

  it('does not send an Off again while it waits for an answer, where the device slept meanwhile', async () => {
    const page = await cutOff();
    await off(page).click();
    await shows(alerts(page), /Laser Off sent, asking again/);
    await page.evaluate('{ const awake = Date.now; Date.now = () => awake() + 1_200_000; }');
    const sent: string[] = [];
    page.on('request', request => /laser/.test(request.url()) && sent.push(request.url()));
    await page.clock.runFor(1000);
    await page.evaluate("fetch('/healthz')");
    expect(sent).to.deep.equal([]);
    expect(await isKept(page)).to.equal(false);
  });

  it('does not forget an Off for the answer to one before it, after which somebody else asked for light', async () => {
    const page = await open({ patient: true });
    const first = await holdingFirstOff(page);
    await off(page).click();
    await first.arrives();
    await post('/api/laser', { action: 'on' });
    await shows(page.locator('.lamp'), /LASER ON/);
    await off(page).click();
    await first.release();
    await page.evaluate("fetch('/healthz')");
    expect(await isKept(page)).to.equal(true);
    await page.unroute(/api\/laser/);
    await eventually(async () => (await truth()).laser.level === 0);
    await eventually(async () => !(await isKept(page)));
  });

  it('says that a STOP is confirmed which was pressed again, and answered, while the first press was lost', async () => {
    const page = await cutOff();
    let asked = 0;
    await page.unroute(/api\/(stop|session|laser)/);
    await page.route('**/api/stop', route => {
      asked += 1;
      return asked > 1 ? route.continue() : undefined;
    });
    await page.locator('.stop').click();
    await eventually(async () => asked === 1);
    const lost = page.waitForEvent('requestfailed');
    await page.locator('.stop').click();
    await lost;
    await shows(alerts(page), /STOP of [\d:]+ is confirmed\./);
    await page.evaluate("fetch('/healthz')");
    expect(await alerts(page).textContent()).to.match(/STOP of [\d:]+ is confirmed\./);
  });

  it('renews the gains that were tried last, and no others', async () => {
    const page = await open();
    const kp = field(page, 'Speed loop kp');
    const { isAsked, end } = await delaying(page, /trial/, request => /"id":/.test(request.postData() ?? ''));
    await kp.fill('20');
    await kp.press('Enter');
    await isAsked();
    await kp.fill('21');
    const answered = page.waitForResponse(response => /"kp":21\b/.test(response.request().postData() ?? ''));
    await kp.press('Enter');
    await answered;
    expect(await end()).to.equal('taken back');
    expect((await truth()).chassis.gains.speed.kp).to.equal(21);
  });

  it('does not call live what it hears late', async () => {
    const page = await open();
    await page.addInitScript(`
      window.delayMs = 0;
      window.heardLate = 0;
      window.EventSource = class extends EventSource {
        addEventListener(type, act) {
          super.addEventListener(type, event => setTimeout(isLate => {
            act(event);
            if (!isLate || this.readyState === EventSource.CLOSED) return;
            heardLate += 1;
            window.calledLive ||= !document.documentElement.hasAttribute('data-stale');
          }, delayMs, delayMs > 0));
        }
      };
    `);
    await page.reload();
    await shows(page.locator('.link'), /Live/);
    await page.evaluate('delayMs = 2000');
    await eventually(() => page.evaluate<boolean>('heardLate > 20'));
    expect(await page.evaluate('calledLive')).to.equal(false);
    await shows(alerts(page), /No contact/);
    await page.evaluate('delayMs = 0');
    await shows(page.locator('.link'), /Live/);
  });
});
