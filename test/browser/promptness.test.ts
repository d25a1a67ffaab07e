import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { alerts, consoleInBrowser, field, has, shows } from './console-page.js';

/** Measured within the page, where the load of this machine counts least. */
describe('the console, how soon it shows', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, fault } = robot;
  const strip = (text: string) => `document.querySelector('.strip').textContent.includes('${text}')`;

  /** The browser draws 60 pictures in a second, and fewer where other programs take its time. */
  const PICTURES_IN_100_MS = 6;

  /** Pictures from a press until it is shown as pending, and from its answer until `outcome` holds and it is not. */
  const timesOf = (page: Page, button: string, outcome: string) =>
    page.evaluate<{ pending: number; outcome: number }>(`(button => new Promise(done => {
      const { fetch } = window;
      let pictures = 0;
      let answeredAt, pending;
      window.fetch = async (...asked) => {
        const answer = await fetch(...asked);
        answeredAt ??= pictures;
        window.fetch = fetch;
        return answer;
      };
      const look = () => {
        const isOver = button.ariaBusy !== 'true' && answeredAt !== undefined && ${outcome};
        if (isOver) return done({ pending, outcome: pictures - answeredAt });
        pictures += 1;
        requestAnimationFrame(look);
      };
      new MutationObserver(() => {
        if (button.ariaBusy === 'true') pending ??= pictures;
      }).observe(button, { attributes: true });
      button.click();
      requestAnimationFrame(look);
    }))(document.querySelector('${button}'))`);

  it('what is pressed, within 100 ms, and what came of it, within 100 ms of the answer', async function () {
    this.retries(4);
    const page = await open();
    await field(page, 'Speed loop kp').fill('41');
    const isPressed = "button.ariaPressed === 'true'";
    const presses = [
      ['debug', '[aria-label="Gimbal mode"] button:last-child', isPressed],
      ['excite', '.excitation .primary', strip('±')],
      ['light', '.laser button:first-child', isPressed],
      ['darken', '.laser button:last-child', isPressed],
      ['save', '[aria-label="Chassis gains"] .primary', "document.body.textContent.includes('Saved: Speed')"],
      ['stop', '.stop', strip('Stopped:')],
      ['resume', '.resume', strip('All well')],
    ] as const;
    for (const [what, button, outcome] of presses) {
      await has(page.locator(button), 'aria-disabled', null);
      const times = await timesOf(page, button, outcome);
      expect(times.pending, what).to.be.at.most(PICTURES_IN_100_MS);
      expect(times.outcome, what).to.be.at.most(PICTURES_IN_100_MS);
    }
    await fault('chassis', 'unplug');
    await shows(alerts(page), /Chassis is offline/);
    const refused = await timesOf(page, '[aria-label="Chassis mode"] button', strip('Chassis mode'));
    expect(refused.pending).to.be.at.most(PICTURES_IN_100_MS);
    expect(refused.outcome).to.be.at.most(PICTURES_IN_100_MS);
  });

  it('that the daemon is silent, within a second, and is back by itself after a restart', async function () {
    this.retries(4);
    const page = await open();
    await page.evaluate(`
      window.silence = new Promise(done => {
        const stream = new EventSource('/api/events');
        let heardAt = Infinity;
        stream.addEventListener('telemetry', () => { heardAt = performance.now(); });
        new MutationObserver(() => {
          stream.close();
          done(performance.now() - heardAt);
        }).observe(document.documentElement, { attributeFilter: ['data-stale'] });
      });
      undefined;
    `);
    await shows(page.locator('.link'), /2 pages open/);
    const { port } = new URL(robot.url);
    await robot.daemon.kill();
    const silenceMs = await page.evaluate<number>('silence');
    await shows(page.locator('.link'), /No contact/);
    await page.locator('.stop').click();
    await robot.startDaemon(port);
    await shows(page.locator('.link'), /Live/);
    await shows(alerts(page), /chassis stopped \(confirmed\)/);
    expect((await robot.truth()).chassis.stopped).to.equal(true);
    expect(silenceMs).to.be.lessThan(1000);
  });

  it('a stop that a frozen daemon does not answer, again after 300 ms', async function () {
    this.retries(4);
    const page = await open();
    await page.evaluate(`
      window.seen = {};
      window.pressedAt = Infinity;
      const note = (name, holds) => { if (!(name in seen) && holds) seen[name] = performance.now() - pressedAt; };
      document.querySelector('.stop').addEventListener('click', () => { pressedAt = performance.now(); }, { capture: true });
      new MutationObserver(() => {
        note('busy', document.querySelector('.stop').ariaBusy === 'true');
        note('again', /sent, asking again/.test(document.querySelector('.strip').textContent));
        note('stale', document.documentElement.hasAttribute('data-stale'));
      }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
    `);
    robot.daemon.process.kill('SIGSTOP');
    await page.locator('.stop').click();
    await shows(alerts(page), /No contact/);
    await page.waitForFunction('seen.stale !== undefined && seen.again !== undefined');
    const seen = await page.evaluate<{ busy: number; again: number; stale: number }>('seen');
    robot.daemon.process.kill('SIGCONT');
    await shows(alerts(page), /gimbal stopped \(confirmed\)/);
    expect((await robot.truth()).gimbal.stopped).to.equal(true);
    await shows(alerts(page), /^(?!.*asking again)/);
    expect(seen.busy).to.be.lessThan(100);
    expect(seen.again).to.be.within(290, 900);
    expect(seen.stale).to.be.lessThan(1000);
  });
});
