import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { alerts, consoleInBrowser, eventually, has, mode, overflow, shows } from './console-page.js';
import { delaying, holdingFirstOff } from './held-requests.js';

/** It must never look calmer than the robot is. */
describe('the console under faults', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, post, fault, truth } = robot;
  const lamp = (page: Page) => page.locator('.lamp');
  const stop = (page: Page) => page.locator('.stop');

  it('says LASER MAY BE ON with stripes when the pin refuses, in the title too', async () => {
    const page = await open();
    await post('/api/laser', { action: 'on' });
    await shows(lamp(page), /LASER ON/);
    await fault('pin', 'nack');
    await shows(lamp(page), /FAULT/);
    await shows(alerts(page), /LASER MAY BE ON: cut its supply/);
    await eventually(async () => /LASER MAY BE ON/.test(await page.title()));
    await has(page.locator('html'), 'data-lit', '');
    expect(await page.locator('.laser [aria-pressed=true]').count()).to.equal(0);
    await fault('pin', 'clear');
    await shows(lamp(page), /^(LASER ON|dark)$/);
    await eventually(async () => !/MAY BE ON/.test((await alerts(page).textContent()) ?? ''));
  });

  it('says what it knew of the laser as what it was, with nothing pressed, when the daemon is gone', async () => {
    const page = await open();
    await shows(lamp(page), /^dark$/);
    const { port } = new URL(robot.url);
    await robot.daemon.kill();
    await shows(lamp(page), /unknown \(was dark\)/);
    expect(await page.locator('.laser [aria-pressed=true]').count()).to.equal(0);
    await eventually(async () => /Laser unknown · No contact/.test(await page.title()));
    await robot.startDaemon(port);
    await shows(lamp(page), /^dark$/);
  });

  it('says of light that was on that it may be, when the daemon is frozen', async () => {
    const page = await open();
    await post('/api/laser', { action: 'on' });
    await shows(lamp(page), /LASER ON/);
    robot.daemon.process.kill('SIGSTOP');
    await shows(lamp(page), /unknown \(was on\)/);
    await shows(
      alerts(page).locator('[data-tone=alarm]').first(),
      /LASER MAY BE ON: be ready to cut its supply\. It was on when/,
    );
    await eventually(async () => /LASER MAY BE ON · No contact/.test(await page.title()));
    await has(page.locator('html'), 'data-lit', '');
    robot.daemon.process.kill('SIGCONT');
    await shows(lamp(page), /LASER ON/);
  });

  it('says that light may be on which was asked for before the daemon froze, and offers none until it is heard', async () => {
    const page = await open();
    await shows(lamp(page), /^dark$/);
    const on = page.locator('.laser').getByRole('button', { name: 'On' });
    const { isAsked } = await delaying(page, /laser/);
    await on.click();
    await isAsked();
    robot.daemon.process.kill('SIGSTOP');
    await shows(alerts(page).locator('[data-tone=alarm]').first(), /LASER MAY BE ON: .*asked for since/);
    await shows(lamp(page), /^unknown$/);
    await eventually(async () => /LASER MAY BE ON · No contact/.test(await page.title()));
    await has(page.locator('html'), 'data-lit', '');
    await has(on, 'aria-disabled', 'true');
    await shows(page.getByRole('group', { name: 'Excitation' }), /Not known\./);
    robot.daemon.process.kill('SIGCONT');
    await has(on, 'aria-disabled', null);
    const isDark = page.waitForResponse(/laser/);
    await page.getByRole('button', { name: 'Off', exact: true }).click();
    await (await isDark).finished();
    await eventually(async () => !/MAY BE ON/.test((await alerts(page).textContent()) ?? ''));
    robot.daemon.process.kill('SIGSTOP');
    await shows(alerts(page), /No contact/);
    expect(await alerts(page).textContent()).not.to.match(/MAY BE ON/);
    robot.daemon.process.kill('SIGCONT');
    await shows(page.locator('.link'), /Live/);
  });

  it('says so also where a stop was heard of before the answer, and no more once what is heard is newer', async () => {
    const page = await open();
    await shows(lamp(page), /^dark$/);
    const light = await delaying(page, /laser/);
    await page.locator('.laser').getByRole('button', { name: 'On' }).click();
    await light.isAsked();
    await post('/api/stop');
    await shows(alerts(page), /Stopped:/);
    robot.daemon.process.kill('SIGSTOP');
    await shows(alerts(page), /LASER MAY BE ON: .*asked for since/);
    robot.daemon.process.kill('SIGCONT');
    await shows(page.locator('.link'), /Live/);
    await light.end();
    await post('/api/resume');
    await page.reload();
    await shows(lamp(page), /^dark$/);
    // It was asked for six seconds ago, and the last status came at once.
    await page.evaluate(`
      const now = performance.now;
      performance.now = () => now.call(performance) - 6000;
      document.querySelector('.laser button').click();
      performance.now = now;
    `);
    await shows(lamp(page), /LASER ON/);
    await post('/api/stop');
    await shows(lamp(page), /dark/);
    robot.daemon.process.kill('SIGSTOP');
    await shows(alerts(page), /No contact/);
    expect(await alerts(page).textContent()).not.to.match(/MAY BE ON/);
    robot.daemon.process.kill('SIGCONT');
    await shows(page.locator('.link'), /Live/);
  });

  it('takes the answer to Off or STOP for what it says while the stream is silent', async () => {
    const page = await open();
    for (const [name, said] of [
      ['Off', /^(?!.*MAY BE ON).*What you see is the last/],
      ['STOP', /^(?!.*MAY BE ON)STOP of \d\d:\d\d:\d\d is confirmed\./],
    ] as const) {
      await post('/api/laser', { action: 'on' });
      await shows(lamp(page), /LASER ON/);
      await page.route('**/api/events', () => undefined);
      await page.evaluate("window.dispatchEvent(new Event('pagehide'))");
      await shows(alerts(page), /LASER MAY BE ON/);
      await page.getByRole('button', { name, exact: true }).click();
      await shows(alerts(page), said);
      await eventually(async () => !/MAY BE ON/.test(await page.title()));
      await has(page.locator('html'), 'data-lit', null);
      await page.unroute('**/api/events');
      await page.evaluate("window.dispatchEvent(new Event('pagehide'))");
      await shows(page.locator('.link'), /Live/);
      expect(await alerts(page).textContent()).not.to.match(/is confirmed/);
    }
  });

  it('believes light that was heard of after its Off over an answer to that which comes later', async () => {
    const page = await open({ patient: true });
    await shows(lamp(page), /^dark$/);
    const off = await holdingFirstOff(page);
    await page.getByRole('button', { name: 'Off', exact: true }).click();
    await off.arrives();
    await post('/api/laser', { action: 'on' });
    await shows(lamp(page), /LASER ON/);
    await off.release();
    robot.daemon.process.kill('SIGSTOP');
    await shows(alerts(page).locator('[data-tone=alarm]').first(), /LASER MAY BE ON/);
    robot.daemon.process.kill('SIGCONT');
    await shows(page.locator('.link'), /Live/);
  });

  it('forgets that light was asked for which the daemon refused', async () => {
    const page = await open();
    await shows(lamp(page), /^dark$/);
    await page.route('**/api/laser', route =>
      /on/.test(route.request().postData() ?? '')
        ? route.fulfill({ status: 409, json: { code: 'stopped', detail: 'The robot is stopped.' } })
        : route.continue(),
    );
    await page.locator('.laser').getByRole('button', { name: 'On' }).click();
    await shows(alerts(page), /Laser The robot is stopped/);
    robot.daemon.process.kill('SIGSTOP');
    await shows(alerts(page), /No contact/);
    expect(await alerts(page).textContent()).not.to.match(/LASER MAY BE ON/);
    robot.daemon.process.kill('SIGCONT');
    await shows(page.locator('.link'), /Live/);
  });

  it('says no more of a stop that was obeyed and not confirmed once somebody has resumed the robot', async () => {
    const page = await open();
    await shows(lamp(page), /^dark$/);
    await page.route('**/api/stop', route =>
      route.fulfill({ status: 503, json: { code: 'not-confirmed', detail: 'The gimbal did not confirm.' } }),
    );
    await stop(page).click();
    await shows(alerts(page), /STOP is not confirmed\. .*The gimbal did not confirm/);
    // What is heard next is of a robot that is not stopped.
    await post('/api/gimbal/mode/switch', { mode: 'auto' });
    await shows(alerts(page), /^All well/);
  });

  it('says no more of it either where the daemon that was stopped was started after the press', async () => {
    const page = await open();
    await shows(lamp(page), /^dark$/);
    const { port } = new URL(robot.url);
    await page.route('**/api/stop', route => route.abort());
    await robot.daemon.kill();
    await stop(page).click();
    await shows(alerts(page), /STOP sent, asking again/);
    await robot.startDaemon(port);
    await shows(page.locator('.link'), /Live/);
    await page.route('**/api/stop', route =>
      route.fulfill({ status: 503, json: { code: 'not-confirmed', detail: 'The gimbal did not confirm.' } }),
    );
    await shows(alerts(page), /STOP is not confirmed\. .*The gimbal did not confirm/);
    await post('/api/gimbal/mode/switch', { mode: 'auto' });
    await shows(alerts(page), /^All well/);
  });

  it('asks on for a STOP that reaches nobody while it hears the robot', async () => {
    const page = await open();
    // Its patience with what is not answered ends at once.
    await page.addInitScript(`
      const later = window.setTimeout;
      window.setTimeout = (act, ms) => later(act, ms === 500 ? 0 : ms);
    `);
    await page.reload();
    await shows(alerts(page), /All well/);
    let asked = 0;
    await page.route('**/api/stop', route => {
      asked += 1;
      return route.abort();
    });
    await stop(page).click();
    await eventually(async () => asked > 25);
    // Its answer ends the asking, so that none is left for the next test.
    const answered = page.waitForResponse(/\/api\/stop/);
    await page.unroute('**/api/stop');
    expect((await answered).status()).to.equal(200);
    expect((await truth()).gimbal.stopped).to.equal(true);
  });

  it('claims no rest of a loop whose controller is away', async () => {
    const page = await open();
    const form = page.getByRole('group', { name: 'Excitation' });
    await post('/api/gimbal/mode/switch', { mode: 'debug' });
    await post('/api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 });
    await shows(form, /Angle loop, yaw is excited/);
    await fault('gimbal', 'unplug');
    await shows(form, /Gimbal is offline\./);
    expect(await form.getByRole('button', { name: 'Excite' }).isDisabled()).to.equal(true);
    expect(await form.textContent()).not.to.match(/is not excited/);
  });

  it('says of a stop what is known of each unit', async () => {
    const page = await open();
    await fault('gimbal', 'unplug');
    await shows(alerts(page), /Gimbal is offline/);
    await stop(page).click();
    await shows(alerts(page), /chassis stopped \(confirmed\)/);
    await shows(alerts(page), /gimbal (unreachable: without torque by its own silence rule|NOT CONFIRMED)/);
    expect(await alerts(page).textContent()).not.to.match(/gimbal stopped/);
    await fault('gimbal', 'plug');
    await shows(alerts(page), /gimbal stopped \(confirmed\); chassis stopped \(confirmed\)/);
    expect(await alerts(page).textContent()).not.to.match(/not confirmed/i);
  });

  it('says in red, and until it is otherwise, that nothing confirms the stop of a unit without a silence rule', async () => {
    const page = await open();
    const { port } = new URL(robot.url);
    await robot.daemon.kill();
    await robot.startDaemon(port, 'supervision: {hostSilenceMs: 0}\n');
    await shows(lamp(page), /^dark$/);
    await fault('gimbal', 'unplug');
    await shows(alerts(page), /Gimbal is offline/);
    await stop(page).click();
    const red = alerts(page).locator('[data-tone=alarm]');
    await shows(red.first(), /Gimbal NOT CONFIRMED/);
    await shows(alerts(page), /chassis stopped \(confirmed\)/);
    await fault('gimbal', 'plug');
    await shows(alerts(page), /gimbal stopped \(confirmed\); chassis stopped \(confirmed\)/);
    expect(await alerts(page).textContent()).not.to.match(/not confirmed/i);
  });

  it('says of a stop that reached nobody that it is not confirmed until it is, and asks again once it may', async () => {
    const page = await open();
    await page.clock.install();
    await page.reload();
    await shows(lamp(page), /^dark$/);
    const { port } = new URL(robot.url);
    await robot.daemon.kill();
    await stop(page).click();
    await shows(alerts(page), /STOP sent, asking again/);
    await page.clock.runFor(6000);
    await stop(page).click();
    await page.clock.runFor(5000);
    expect(await alerts(page).textContent()).to.match(/STOP sent, asking again/);
    await page.clock.runFor(6000);
    await shows(alerts(page), /STOP is not confirmed/);
    await page.clock.fastForward(30_000);
    await shows(alerts(page), /STOP is not confirmed/);
    await robot.startDaemon(port);
    await eventually(async () => (await truth()).gimbal.stopped && (await truth()).chassis.stopped);
    await shows(alerts(page), /^(?!.*not confirmed).*gimbal stopped \(confirmed\)/i);
    await post('/api/resume');
    await shows(alerts(page), /^All well/);
  });

  it('says of a stop that was refused that it is not confirmed until the robot is seen stopped', async () => {
    const page = await open();
    await page.clock.install();
    await page.route('**/api/stop', route =>
      route.fulfill({ status: 403, json: { code: 'not-allowed', detail: 'Your token may not stop.' } }),
    );
    await stop(page).click();
    await shows(alerts(page), /STOP is not confirmed\. .*Only an operator or referee can send it\./);
    await page.clock.fastForward(30_000);
    await shows(alerts(page), /STOP is not confirmed/);
    await post('/api/stop');
    await shows(alerts(page), /^(?!.*not confirmed).*Stopped:/i);
    await post('/api/resume');
    await shows(alerts(page), /^All well/);
  });

  it('says why a Resume was refused, and nothing of a stop then', async () => {
    const page = await open();
    await stop(page).click();
    await shows(alerts(page), /Stopped:/);
    await page.route('**/api/resume', route =>
      route.fulfill({ status: 503, json: { code: 'not-confirmed', detail: 'The gimbal did not confirm.' } }),
    );
    await page.getByRole('button', { name: 'Resume' }).click();
    await shows(alerts(page), /Resume The gimbal did not confirm\./);
    expect(await alerts(page).textContent()).not.to.match(/STOP is not confirmed/);
  });

  it('says what is known of a stop before all other complaints', async () => {
    const page = await open();
    await fault('gimbal', 'unplug');
    await shows(alerts(page), /Gimbal is offline/);
    await fault('chassis', 'brownout');
    await shows(alerts(page), /Chassis restarted/);
    await stop(page).click();
    await shows(
      alerts(page).locator('li:not([data-tone=alarm])').first(),
      /^Stopped: .*chassis stopped \(confirmed\)/,
    );
  });

  it('keeps STOP and everything where it is, with nothing under anything, whatever is wrong, down to 320 px', async () => {
    const { body: steps } = await robot.get('/api/gimbal/steps?loop=angle_yaw');
    for (const [width, height] of [
      [320, 700],
      [390, 844],
      [844, 390],
      [1280, 720],
    ] as const) {
      const page = await open({ width, height, touch: width < 1000 });
      const places = () =>
        page.evaluate(
          `JSON.stringify([...document.querySelectorAll('.stop, .resume, .gain input')].map(one => one.getBoundingClientRect()))`,
        );
      const covered = () =>
        page.evaluate<string[]>(`[...document.querySelectorAll('button, input, summary, a, .bar .label')]
          .filter(one => one.checkVisibility() && !one.closest('.strip li ~ li'))
          .filter(one => {
            const { left, top, width, height } = one.getBoundingClientRect();
            const at = document.elementFromPoint(left + width / 2, top + height / 2);
            return at !== null && top > 0 && top + height < innerHeight && !(one.contains(at) || at.contains(one));
          }).map(one => one.outerHTML)`);
      // What was captured in tests before stands over the gains, and comes late.
      if (steps.length > 0) await page.locator('.reading .figures').waitFor();
      const before = await places();
      await fault('chassis', 'unplug');
      await fault('pin', 'nack');
      await shows(alerts(page), /Chassis is offline/);
      await shows(alerts(page), /LASER MAY BE ON/);
      expect(await places()).to.equal(before);
      expect(await overflow(page)).to.be.at.most(0);
      expect(await covered(), `at ${width} px`).to.deep.equal([]);
      const offline = alerts(page).locator('li', { hasText: 'Chassis' }).first();
      const bottom = async (of: Locator) => {
        const { y, height } = (await of.boundingBox())!;
        return y + height;
      };
      const end = await bottom(alerts(page));
      expect(await bottom(offline)).to.be.greaterThan(end);
      await alerts(page).getByRole('button', { name: 'more' }).click();
      await eventually(
        async () => (await alerts(page).locator('ul').boundingBox())!.height > (await bottom(offline)) - end,
      );
      await stop(page).click({ trial: true });
      await alerts(page).getByRole('button', { name: 'Fold' }).click();
      expect(await covered(), `at ${width} px`).to.deep.equal([]);
      await fault('chassis', 'plug');
      await fault('pin', 'clear');
      await page.context().close();
    }
  });

  it('greys what a stop refuses, and keeps the focus', async () => {
    const page = await open();
    await mode(page, 'Gimbal', 'auto').focus();
    await page.keyboard.press('Escape');
    await shows(alerts(page), /Stopped:/);
    for (const control of [
      mode(page, 'Gimbal', 'auto'),
      mode(page, 'Chassis', 'debug'),
      page.locator('.laser').getByRole('button', { name: 'On' }),
      page.getByRole('button', { name: 'Excite', exact: true }),
    ]) {
      await eventually(() => control.isDisabled());
    }
    expect(await page.evaluate('document.activeElement.textContent')).to.equal('auto');
  });
});
