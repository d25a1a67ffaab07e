import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../support/browser.js';
import { Child } from '../support/child.js';
import { call } from '../support/daemon.js';
import { alerts, consoleInBrowser, eventually, has, mode, shows } from './console-page.js';

describe('the console of a robot with tokens and a match', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const token = async (...words: string[]) => {
    const child = new Child('src/main.js', ['token', ...words, '--state', robot.state]);
    await child.exited;
    return child.lines.join('\n');
  };
  const added: string[] = [];
  const add = async (name: string, role: string) => {
    added.push(name);
    const [secret = ''] = (await token('add', name, '--role', role)).split('\n');
    return secret;
  };
  /** For a suite within this one. They come last, so that no test wants the usual settings after it. */
  const withSettings = (settings: string) =>
    before(async () => {
      await robot.daemon.kill();
      await robot.startDaemon('0', settings);
    });
  const enter = async (page: Page, secret: string) => {
    const field = page.getByRole('region', { name: 'Login' }).locator('input');
    await field.fill(secret);
    await field.press('Enter');
    await shows(page.locator('.who'), /\(/);
    // A stop that the page sends on entering has been sent by now.
    await page.evaluate("fetch('/healthz')");
  };
  const callAs = (secret: string, method: string, path: string, body?: unknown) =>
    call(robot.url, method, path, body, { authorization: `Bearer ${secret}` });
  const stopsOf = (page: Page) => {
    const stops: string[] = [];
    page.on('request', request => {
      if (request.url().endsWith('/api/stop')) stops.push(request.url());
    });
    return stops;
  };
  const blank = async () => {
    const context = await robot.browser.newContext({ viewport: { width: 1280, height: 720 } });
    return context.newPage();
  };

  afterEach(async () => {
    for (const name of added.splice(0)) await token('remove', name);
    await robot.post('/api/match/unlock');
  });

  it('says that it is open to everyone who reaches it, where that is more than this machine', async () => {
    const page = await robot.open();
    await shows(page.locator('.brand'), /Live/);
    expect(await page.locator('.brand').textContent()).to.not.include('OPEN');
    const state = await mkdtemp(join(tmpdir(), 'trunnion-'));
    const exposed = new Child('sim/main.js', ['--port', '0', '--host', '0.0.0.0', '--state', state]);
    try {
      await page.goto(await exposed.url());
      await shows(page.locator('.brand'), /OPEN TO ALL/);
    } finally {
      await exposed.kill();
      await rm(state, { recursive: true });
    }
  });

  it('is entered by a link, whose token leaves the address and whose view stays', async () => {
    const secret = await add('op', 'operator');
    const page = await blank();
    await page.goto(`${robot.url}/#match&token=${secret}`);
    await shows(page.locator('.match .link'), /Live/);
    expect(await page.evaluate('location.hash')).to.equal('#match');
    await page.reload();
    await shows(page.locator('.match .link'), /Live/);
  });

  it('is entered by typing, refuses a wrong token in words, and has STOP all the time', async () => {
    const secret = await add('op', 'operator');
    const page = await blank();
    await page.goto(robot.url);
    const login = page.getByRole('region', { name: 'Login' });
    await shows(login, /who you are/);
    await shows(page.locator('.link'), /^Nobody is logged in$/);
    await page.locator('.stop').click();
    const field = login.locator('input');
    await field.fill('lcg');
    await field.press('Enter');
    await shows(login.getByRole('alert'), /token/i);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await field.fill(secret);
    await field.press('Enter');
    await shows(page.locator('.who'), /op \(operator\)/);
    await shows(alerts(page), /gimbal stopped \(confirmed\)/);
    await page.getByRole('button', { name: 'Resume' }).click();
    await shows(alerts(page), /All well/);
  });

  it('sends a STOP that reached nobody as soon as the daemon answers, from the login too', async () => {
    await add('op', 'operator');
    const page = await blank();
    await page.clock.install();
    await page.goto(robot.url);
    await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
    await page.context().setOffline(true);
    await page.locator('.stop').click();
    await shows(alerts(page), /STOP sent, asking again/);
    await page.clock.runFor(6000);
    await page.clock.runFor(6000);
    await shows(alerts(page), /STOP is not confirmed/);
    await page.context().setOffline(false);
    await shows(alerts(page), /STOP of [\d:]+ is confirmed\./);
    await token('remove', 'op');
    expect((await robot.truth()).gimbal.stopped).to.equal(true);
  });

  it('believes the newest answer of who is here, also when an older one comes after it', async () => {
    const secret = await add('op', 'operator');
    const page = await blank();
    let bring = (): void => undefined;
    const brought = new Promise<void>(resolve => {
      bring = resolve;
    });
    let arrived: Promise<void> | undefined;
    await page.clock.install();
    await page.goto(robot.url);
    const login = page.getByRole('region', { name: 'Login' });
    await shows(login, /who you are/);
    await page.route('**/api/session', async route => {
      if (arrived !== undefined || route.request().method() !== 'GET') return route.continue();
      const old = await route.fetch();
      arrived ??= brought.then(() => route.fulfill({ response: old }));
      return arrived;
    });
    await eventually(async () => arrived !== undefined);
    // Nothing else is asked, and the page's patience does not end.
    await page.clock.pauseAt(Date.now() + 2000);
    await login.locator('input').fill(secret);
    await login.locator('input').press('Enter');
    await shows(page.locator('.who'), /op \(operator\)/);
    bring();
    await arrived;
    // What was asked after it is answered after it.
    await page.evaluate("fetch('/healthz')");
    expect(await page.locator('.who').textContent()).to.match(/op \(operator\)/);
    expect(await login.count()).to.equal(0);
  });

  it('shows who is here when somebody left in another tab', async () => {
    const secret = await add('op', 'operator');
    const page = await blank();
    await page.goto(`${robot.url}/#token=${secret}`);
    await shows(page.locator('.who'), /op \(operator\)/);
    const other = await page.context().newPage();
    await other.goto(robot.url);
    await other.getByRole('button', { name: 'Leave' }).click();
    await shows(other.getByRole('region', { name: 'Login' }), /who you are/);
    await mode(page, 'Gimbal', 'auto').click();
    await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
  });

  it('shows who is here as soon as its window is looked at again', async () => {
    const secret = await add('op', 'operator');
    const page = await blank();
    await page.goto(`${robot.url}/#token=${secret}`);
    await shows(page.locator('.who'), /op \(operator\)/);
    await page.context().clearCookies();
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
  });

  it('stays on a network that lets nobody leave, with STOP, and says why', async () => {
    const secret = await add('op', 'operator');
    const page = await blank();
    await page.goto(`${robot.url}/#token=${secret}`);
    await shows(page.locator('.who'), /op \(operator\)/);
    await page.context().setOffline(true);
    const leave = page.getByRole('button', { name: 'Leave' });
    await leave.click();
    await shows(alerts(page), /Session The daemon does not answer/);
    await has(leave, 'aria-busy', null);
    await shows(page.locator('.stop'), /STOP/);
    await page.context().setOffline(false);
    await leave.click();
    await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
  });

  it('says in the strip that the token of a link is refused, where somebody else is logged in', async () => {
    const secret = await add('op', 'operator');
    const page = await blank();
    await page.goto(`${robot.url}/#token=${secret}`);
    await shows(page.locator('.who'), /op \(operator\)/);
    await page.goto('about:blank');
    await page.goto(`${robot.url}/#token=wrong`);
    await shows(page.locator('.who'), /op \(operator\)/);
    await shows(alerts(page), /Session This token is not known/);
  });

  it('keeps STOP under the thumb in the match view when the token is taken away', async () => {
    const spectator = await add('spec', 'spectator');
    const operator = await add('op', 'operator');
    const context = await robot.browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true });
    const page = await context.newPage();
    await page.goto(`${robot.url}/#match&token=${spectator}`);
    await shows(page.locator('.match .link'), /Live/);
    const stop = page.locator('.stop');
    const before = await stop.boundingBox();
    await token('remove', 'spec');
    await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
    expect(await stop.boundingBox()).to.deep.equal(before);
    expect(await page.getByRole('button', { name: 'Off' }).isEnabled()).to.equal(true);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await stop.tap();
    await eventually(async () => (await callAs(operator, 'GET', '/api/status')).body.stopped);
  });

  it('greys what a spectator may not do, and shows the login when the token is taken away', async () => {
    await robot.post('/api/gimbal/mode/switch', { mode: 'debug' });
    await robot.post('/api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 });
    const secret = await add('spec', 'spectator');
    const page = await blank();
    await page.goto(`${robot.url}/#token=${secret}`);
    await shows(page.locator('.who'), /spec/);
    const end = page.getByRole('button', { name: 'End the excitation of the gimbal' });
    await eventually(() => end.isDisabled());
    expect(await mode(page, 'Gimbal', 'auto').isDisabled()).to.equal(true);
    expect(await page.locator('.laser').getByRole('button', { name: 'On' }).isDisabled()).to.equal(true);
    expect(await page.locator('.laser').getByRole('button', { name: 'Off' }).isEnabled()).to.equal(true);
    await add('op', 'operator');
    await token('remove', 'spec');
    await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
    await shows(alerts(page), /^(?!.*No contact).*Nobody is logged in\. What you see is the last/);
  });

  it('shows phase and time left, moves nothing on a desk by that, and greys the modes that the phase forbids', async () => {
    const page = await robot.open();
    const places = () =>
      page.evaluate(
        `JSON.stringify([...document.querySelectorAll('.stop, .gain input')].map(one => one.getBoundingClientRect()))`,
      );
    const before = await places();
    await has(mode(page, 'Chassis', 'debug'), 'aria-disabled', null);
    const lease = { holder: 'desk', ttlMs: 60_000 };
    await robot.post('/api/match/lease', lease);
    const set = (revision: number, phase: string) =>
      robot.post('/api/match', { id: 'qual-1', revision, phase, remainingS: 95 });
    await set(1, 'teleop');
    await shows(page.locator('.match-board'), /^teleop 1:3\d/);
    expect(await places()).to.equal(before);
    await has(mode(page, 'Chassis', 'debug'), 'aria-disabled', 'true');
    await robot.post('/api/match/lease', lease);
    await set(2, 'none');
    // On a slow machine the desk may have been silent for too long, which is a stop.
    await robot.post('/api/resume');
    await has(mode(page, 'Chassis', 'debug'), 'aria-disabled', null);
  });

  it('lets end what is tried whatever a match forbids, for to end it needs the right alone', async () => {
    const { body: gains } = await robot.get('/api/gimbal/pidconfig');
    await robot.post('/api/gimbal/pidconfig/trial', { gains, leaseS: 5 });
    const { body } = await robot.get('/api/status');
    expect(body.gimbal.gains.trial.by).to.be.a('string');
    const match = { ...body.match, lock: { by: 'ref', reason: 'Pit stop' } };
    const page = await blank();
    // The lock has come, and what its stop ends has not ended yet.
    await page.route('**/api/events', route =>
      route.fulfill({
        contentType: 'text/event-stream',
        body: `event: status\ndata: ${JSON.stringify({ ...body, match })}\n\n`,
      }),
    );
    await page.goto(robot.url);
    await has(mode(page, 'Gimbal', 'auto'), 'aria-disabled', 'true');
    const end = page.getByRole('button', { name: 'End the trial of the gimbal' });
    await has(end, 'aria-disabled', null);
    const answered = page.waitForResponse(
      response =>
        response.request().method() === 'DELETE' && response.url().endsWith('/gimbal/pidconfig/trial'),
    );
    await end.click();
    expect((await answered).status()).to.equal(200);
  });

  it('shows a lock at once and by whom, and greys what it forbids', async () => {
    const page = await robot.open();
    // Within the page, from the event to what stands there: how busy the machine is otherwise does not count.
    await page.evaluate(`
      const stream = new EventSource('/api/events');
      window.streams = new Promise(done => stream.addEventListener('status', done, { once: true }));
      window.seen = new Promise(done => {
        let heardAt;
        stream.addEventListener('status', event => {
          if (JSON.parse(event.data).match.lock !== null) heardAt ??= performance.now();
        });
        const look = () => {
          const isShown = document.querySelector('.match-board[data-locked]') !== null;
          if (isShown) return done(performance.now() - (heardAt ?? performance.now()));
          requestAnimationFrame(look);
        };
        look();
      });
      undefined;
    `);
    await page.evaluate('streams');
    await call(robot.url, 'POST', '/api/match/lock', { reason: 'Pit stop' });
    expect(await page.evaluate<number>('seen')).to.be.lessThan(200);
    await shows(page.locator('.match-board'), /LOCKED by .*: Pit stop/);
    await has(page.locator('.resume'), 'aria-disabled', 'true');
    await call(robot.url, 'POST', '/api/match/unlock');
    await eventually(async () => (await page.locator('.match-board').count()) === 0);
  });

  describe('where a STOP needs a token', () => {
    withSettings('access: {stop: token}\n');

    it('sends a STOP that was refused as soon as whoever may has entered', async () => {
      const secret = await add('op', 'operator');
      const page = await blank();
      await page.goto(robot.url);
      await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
      await page.locator('.stop').click();
      await shows(
        alerts(page),
        /STOP is not confirmed\. Be ready.* Only an operator or referee can send it\./,
      );
      await enter(page, secret);
      await shows(alerts(page), /^(?!.*not confirmed).*gimbal stopped \(confirmed\)/i);
    });

    it('keeps the STOP of a spectator, which is refused, for the operator who enters after Leave', async () => {
      const spectator = await add('spec', 'spectator');
      const operator = await add('op', 'operator');
      const page = await blank();
      await page.goto(`${robot.url}/#token=${spectator}`);
      await shows(page.locator('.who'), /spec/);
      await page.locator('.stop').click();
      await shows(
        alerts(page),
        /STOP is not confirmed\. Be ready.* Only an operator or referee can send it\./,
      );
      await page.getByRole('button', { name: 'Leave' }).click();
      await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
      await enter(page, operator);
      await shows(alerts(page), /^(?!.*not confirmed).*gimbal stopped \(confirmed\)/i);
    });

    it('does not send a refused STOP any more a minute after the press, but asks for another press', async () => {
      const secret = await add('op', 'operator');
      const page = await blank();
      await page.clock.install();
      await page.goto(robot.url);
      await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
      await page.locator('.stop').click();
      await shows(alerts(page), /STOP is not confirmed/);
      await page.clock.fastForward(62_000);
      const stops = stopsOf(page);
      await enter(page, secret);
      expect(stops).to.deep.equal([]);
      await shows(alerts(page), /STOP of [\d:]+ was refused\. Press it again if it is still wanted\./);
      expect((await callAs(secret, 'GET', '/api/status')).body.stopped).to.equal(false);
      await page.locator('.stop').click();
      await shows(alerts(page), /^(?!.*refused).*gimbal stopped \(confirmed\)/i);
    });

    it('shows the login after a Leave whose answer is the last that comes', async () => {
      const secret = await add('spec', 'spectator');
      const page = await blank();
      await page.goto(`${robot.url}/#token=${secret}`);
      await shows(page.locator('.who'), /spec/);
      await page.locator('.stop').click();
      await shows(alerts(page), /STOP is not confirmed/);
      await page.route('**/api/session', route =>
        route.request().method() === 'GET' ? route.abort() : route.continue(),
      );
      await page.getByRole('button', { name: 'Leave' }).click();
      await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
      await shows(alerts(page), /STOP is not confirmed/);
    });

    it('asks before it is loaded anew while a STOP is still to be sent', async () => {
      await add('op', 'operator');
      const page = await blank();
      await page.goto(robot.url);
      await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
      await page.locator('.stop').click();
      await shows(alerts(page), /STOP is not confirmed/);
      const asked = page.waitForEvent('dialog');
      void page.evaluate('location.reload()').catch(() => undefined);
      const dialog = await asked;
      expect(dialog.type()).to.equal('beforeunload');
      await dialog.dismiss();
      await shows(alerts(page), /STOP is not confirmed/);
    });
  });

  describe('where nothing confirms a stop but a latch', () => {
    withSettings('supervision: {hostSilenceMs: 0}\n');

    it('does not send a STOP again on a login that the daemon obeyed and could not confirm', async () => {
      const secret = await add('op', 'operator');
      const page = await blank();
      await page.goto(robot.url);
      await shows(page.getByRole('region', { name: 'Login' }), /who you are/);
      const gimbal = (fault: string) => callAs(secret, 'POST', '/sim/faults', { target: 'gimbal', fault });
      await gimbal('unplug');
      await page.locator('.stop').click();
      await shows(alerts(page), /^STOP is not confirmed/);
      await gimbal('plug');
      await eventually(async () => (await callAs(secret, 'POST', '/api/resume')).status === 200);
      const stops = stopsOf(page);
      await enter(page, secret);
      expect(stops).to.deep.equal([]);
      expect((await callAs(secret, 'GET', '/api/status')).body.stopped).to.equal(false);
    });
  });
});
