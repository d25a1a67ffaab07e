import { expect } from 'chai';
import { accessibilityFaults } from '../support/browser.js';
import { Child } from '../support/child.js';
import { call, inTemporaryFolder } from '../support/daemon.js';
import {
  alerts,
  consoleInBrowser,
  eventually,
  HOLD_MS,
  has,
  middleOf,
  mode,
  nowMs,
  placesOf,
  sentMs,
  shows,
  unhurried,
} from './console-page.js';

describe('the console', function () {
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
    // The first token stops the robot, which takes a moment.
    if (role === 'operator')
      await eventually(async () => (await callAs(secret, 'POST', '/api/resume')).status === 200);
    return secret;
  };

  const callAs = (secret: string, method: string, path: string, body?: unknown) =>
    unhurried(() => call(robot.url, method, path, body, { authorization: `Bearer ${secret}` }));

  const blank = async () => {
    const context = await robot.browser.newContext({ viewport: { width: 1280, height: 720 } });
    return context.newPage();
  };

  afterEach(async () => {
    for (const name of added.splice(0)) await token('remove', name);
    await robot.post('/api/match/unlock');
    await eventually(async () => (await robot.post('/api/resume')).status === 200);
  });

  it('says "OPEN TO ALL" on a robot without tokens if the daemon listens on all addresses, but not if it listens on 127.0.0.1 only', async () => {
    const page = await robot.open();
    await shows(page.locator('.brand'), /Live/);
    expect(await page.locator('.brand').textContent()).to.not.include('OPEN');
    await inTemporaryFolder(async state => {
      const exposed = new Child('sim/main.js', ['--port', '0', '--host', '0.0.0.0', '--state', state]);
      try {
        await page.goto(await exposed.url());
        await shows(page.locator('.brand'), /OPEN TO ALL/);
      } finally {
        await exposed.kill();
      }
    });
  });

  it('logs a person in by a link with a token, also if the page is open already, and still offers STOP and the laser button "Off" after the token is removed', async () => {
    await add('other', 'spectator');
    const secret = await add('op', 'operator');
    const page = await blank();
    // The second link is opened in a window that has the page already.
    await page.goto(`${robot.url}/#match`);
    await shows(page.getByRole('region', { name: 'Login' }), /Log in with your token/);
    await page.goto(`${robot.url}/#token=${secret}&match`);
    await shows(page.locator('.match .link'), /Live/);
    expect(await page.evaluate('location.hash')).to.equal('#match');
    await page.reload();
    await shows(page.locator('.match .link'), /Live/);
    const before = await page.locator('.stop').boundingBox();
    await token('remove', 'op');
    await shows(page.getByRole('region', { name: 'Login' }), /Log in with your token/);
    expect(await page.locator('.stop').boundingBox()).to.deep.equal(before);
    expect(await page.getByRole('button', { name: 'Off' }).isEnabled()).to.equal(true);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
  });

  it('sends a STOP even before the login, rejects a wrong token that is typed in, and accepts a valid one', async () => {
    const secret = await add('op', 'operator');
    const page = await blank();
    await page.goto(robot.url);
    const login = page.getByRole('region', { name: 'Login' });
    await shows(login, /Log in with your token or link.*Nobody is logged in here/);
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
    await page.context().clearCookies();
    await page.evaluate("window.dispatchEvent(new Event('focus'))");
    await shows(login, /Log in with your token/);
  });

  it('hides the buttons of other roles from a spectator, and shows the login when the token of the spectator is removed', async () => {
    const operator = await add('op', 'operator');
    const secret = await add('spec', 'spectator');
    // The first token has stopped the robot.
    await callAs(operator, 'POST', '/api/resume');
    await callAs(operator, 'POST', '/api/gimbal/mode/switch', { mode: 'debug' });
    const excitation = { loop: 'angle_yaw', amplitude: 0.1, periodS: 1 };
    await callAs(operator, 'POST', '/api/gimbal/excitation', excitation);
    const page = await blank();
    await page.goto(`${robot.url}/#token=${secret}`);
    await shows(page.locator('.who'), /spec/);
    const middleOfY = async (of: string) => (await middleOf(page.locator(of).first())).y;
    expect(await middleOfY('.loop:not(.heads) output')).to.equal(await middleOfY('.loop-name'));
    const end = page.getByRole('button', { name: 'End the test steps of the gimbal' });
    await shows(alerts(page), /±0.1 rad/);
    for (const one of [
      end,
      mode(page, 'Gimbal', 'auto'),
      page.locator('.laser').getByRole('button', { name: 'On' }),
      page.getByRole('button', { name: /^(Resume|Keep|Try|Restore|Send test steps|Tune…|LOCK)/ }),
    ])
      expect(await one.count()).to.equal(0);
    expect(await mode(page, 'Gimbal', 'debug').count()).to.equal(1);
    expect(await page.locator('.laser').getByRole('button', { name: 'Off' }).isEnabled()).to.equal(true);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await token('remove', 'spec');
    await shows(page.getByRole('region', { name: 'Login' }), /Log in with your token/);
    await shows(alerts(page), /^(?!.*No contact).*Nobody is logged in\. The page shows the last/);
  });

  it('lets a referee take or take over the lease, run, pause, continue and end a match, and lock and unlock the robot', async () => {
    const operator = await add('op', 'operator');
    const secret = await add('ref', 'referee');
    const page = await blank();
    await page.goto(`${robot.url}/#token=${secret}`);
    const panel = page.getByRole('region', { name: 'Referee' });
    await shows(panel, /No desk has the lease/);
    const button = (name: string) => panel.getByRole('button', { name, exact: true });
    const match = async () => (await callAs(operator, 'GET', '/api/match')).body;
    expect(await mode(page, 'Gimbal', 'auto').count()).to.equal(0);
    await panel.getByLabel('Match').fill('final');
    await button('pre').click();
    await eventually(async () => (await match()).phase === 'pre');
    expect(await button('autonomous needs the lease').isDisabled()).to.equal(true);
    expect((await match()).lease?.holder).to.not.match(/^page/);
    await button('Take the lease').click();
    await shows(panel, /This page has the lease\. Last beat \d\.\d s ago/);
    await panel.getByLabel('Seconds of autonomous').fill('120');
    await button('autonomous').click();
    await shows(page.locator('.match-board'), /^final autonomous (2:00|1:\d\d)/);
    await button('pause').click();
    await shows(page.locator('.match-board'), /pause/);
    expect(await button('Start over').isEnabled()).to.equal(true);
    await panel.getByRole('button', { name: /^Go on autonomous, (2:00|1:\d+) left/ }).click();
    await shows(page.locator('.match-board'), /autonomous 1:\d+/);
    await button('LOCK').click();
    await shows(page.locator('.match-board'), /LOCKED by ref: Referee/);
    const events = panel.getByRole('list', { name: 'Last events' });
    await shows(events, /Lock: Referee, by ref.*Phase: pre → auto, lasts 120 s, by ref/);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await button('Unlock').click();
    expect((await match()).lock).to.not.equal(null);
    await button('Unlock press again').click();
    await eventually(async () => (await match()).lock === null);
    await button('ended').click();
    expect((await match()).phase).to.equal('auto');
    await button('ended press again').click();
    await eventually(async () => (await match()).phase === 'ended');
    await button('no match').click();
    await eventually(async () => (await match()).phase === 'none');
    await button('Release').click();
    await callAs(secret, 'POST', '/api/match/lease', { holder: 'hall desk', ttlMs: 10_000, takeover: true });
    await shows(panel, /hall desk \(ref\) has the lease/);
    await button('Take it over').click();
    expect((await match()).lease.holder).to.equal('hall desk');
    await button('Take it over press again').click();
    await shows(panel, /This page has the lease/);
    await button('Release').click();
  });

  it('does not end a match at the first press or tap of the button "no match", "pre" or "ended"', async () => {
    const operator = await add('op', 'operator');
    const secret = await add('ref', 'referee');
    const phase = async () => (await callAs(operator, 'GET', '/api/match')).body.phase;
    let revision = 0;
    for (const hasTouch of [false, true])
      for (const name of ['no match', 'pre', 'ended']) {
        revision += 1;
        await callAs(secret, 'POST', '/api/match', { id: `M${revision}`, revision, phase: 'pre' });
        await callAs(secret, 'POST', '/api/match', {
          id: `M${revision}`,
          revision: revision + 100,
          phase: 'pause',
        });
        const context = await robot.browser.newContext({ hasTouch, isMobile: hasTouch });
        const page = await context.newPage();
        await page.goto(`${robot.url}/#match&token=${secret}`);
        const button = page.locator('.phases').getByRole('button', { name: new RegExp(`^${name}`) });
        await has(button, 'aria-disabled', null);
        const isHeld = hasTouch && name !== 'ended';
        if (hasTouch) await button.tap();
        else await button.click();
        expect(await phase(), `${name} at the first press`).to.equal('pause');
        const againMs = await nowMs(page);
        if (!hasTouch) await button.click();
        else if (isHeld) await button.dispatchEvent('pointerdown');
        else await button.tap();
        await eventually(async () => (await phase()) !== 'pause');
        const sent = () => sentMs(page, '/api/match');
        await eventually(async () => (await sent()).length > 0);
        // The first press sent nothing, not even late.
        expect((await sent()).map(ms => ms >= againMs + (isHeld ? HOLD_MS : 0))).to.deep.equal([true]);
        await context.close();
      }
    await callAs(secret, 'POST', '/api/match', { id: 'M0', revision: 0, phase: 'none' });
  });

  it('in the phase "teleop" shows the time left and disables debug mode, but does not move STOP or the gain fields', async () => {
    const page = await robot.open();
    const places = () => placesOf(page, '.stop, .gain input');
    const before = await places();
    await has(mode(page, 'Chassis', 'debug'), 'aria-disabled', null);
    await robot.post('/api/match/lease', { holder: 'desk', ttlMs: 60_000 });
    const set = (revision: number, phase: string) =>
      robot.post('/api/match', { id: 'qual-1', revision, phase, remainingS: 95 });
    await set(1, 'teleop');
    await shows(page.locator('.match-board'), /^qual-1 teleop \d:\d\d/);
    expect(await places()).to.deep.equal(before);
    await has(mode(page, 'Chassis', 'debug'), 'aria-disabled', 'true');
    await set(2, 'none');
    await has(mode(page, 'Chassis', 'debug'), 'aria-disabled', null);
  });
});
