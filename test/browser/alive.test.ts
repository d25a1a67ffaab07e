import { expect } from 'chai';
import { accessibilityFaults } from '../support/browser.js';
import { alerts, consoleInBrowser, eventually, has, mode, PHONE, placesOf, shows } from './console-page.js';

const WORDS: Record<string, string> = { nack: 'no answer', hang: 'bus stuck', clear: 'repair' };

describe('the console of a simulated robot', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, get, post } = robot;

  /**
   * The faults that the simulator accepts for this target. The count of 0 makes it refuse every request, so that no fault
   * is injected. A fault is accepted if the refusal does not name `/fault`.
   */
  const faultsOf = async (target: string) => {
    const names = ['brownout', 'clear', 'corrupt', 'hang', 'nack', 'plug', 'timeout', 'unplug'];
    const answers = await Promise.all(
      names.map(name => post('/sim/faults', { target, fault: name, count: 0 })),
    );
    return names.filter((_, index) => !/"pointer":"\/fault"/.test(answers[index]!.text));
  };

  it('names the loop that another caller moves with test steps, and lets the user end these test steps with a button or with STOP', async () => {
    const page = await open();
    await mode(page, 'Gimbal', 'debug').click();
    await has(mode(page, 'Gimbal', 'debug'), 'aria-pressed', 'true');
    await robot.excite('gimbal', 'angle_yaw', 0.1, 1);
    await shows(alerts(page), /Gimbal moves its angle loop, yaw by ±0.1 rad every 1 s\./);
    expect(await page.locator('.chips [data-excited]').textContent()).to.equal('Angle loop, yaw');
    await page.getByRole('button', { name: 'End the test steps of the gimbal' }).click();
    await eventually(async () => !/±0.1/.test((await alerts(page).textContent()) ?? ''));
    expect((await get('/api/gimbal/excitation')).body.amplitude).to.equal(0);
    const match = await open(PHONE);
    await robot.excite('gimbal', 'angle_yaw', 0.1, 1);
    for (const one of [page, match]) await shows(alerts(one), /±0.1 rad/);
    await match.locator('.stop').tap();
    for (const one of [page, match]) {
      await shows(alerts(one), /^(?!.*±).*Stopped at/);
    }
    await eventually(async () => (await page.locator('[data-excited]').count()) === 0);
  });

  it('shows firmware, last reset and longest loop time of a controller only if the controller reports them (register `build`)', async () => {
    const { body } = await get('/api/status');
    const build = { imageCrc: '0000beef', resetCause: 'watchdog', longestLoopUs: 131 };
    const status = JSON.stringify({ ...body, gimbal: { ...body.gimbal, build } });
    const page = await open();
    await page.route('**/api/events', route =>
      route.fulfill({ contentType: 'text/event-stream', body: `event: status\ndata: ${status}\n\n` }),
    );
    await page.reload();
    const view = page.getByRole('region', { name: 'The robot' });
    await shows(
      view,
      /Gimbal: firmware 1\.0\.0, protocol 1, build 0000beef, last reset watchdog, longest loop 131 µs/,
    );
    expect(await view.textContent()).to.not.match(/Chassis/);
  });

  it('marks every 5 degrees of elevation in the gimbal view, but leaves the edges at top and bottom free for text', async () => {
    const page = await open();
    const rungs = page.locator('.rung');
    await rungs.first().waitFor();
    const [view] = await placesOf(page, 'svg:has(.rung)');
    const free = 0.05 * view!.height;
    for (const { y, height } of await placesOf(page, '.rung')) {
      expect(y).to.be.at.least(view!.y + free);
      expect(y + height).to.be.at.most(view!.y + view!.height - free);
    }
    for (const text of await rungs.allTextContents()) expect(text).to.match(/^−?\d?[05]°$/);
  });

  it('has a panel "First minute" for newcomers, a button for every fault that the simulator accepts, and a search field for the log', async () => {
    const page = await open();
    const first = page.getByRole('region', { name: 'First minute' });
    await first.getByRole('button', { name: 'Gimbal auto' }).click();
    await has(mode(page, 'Gimbal', 'auto'), 'aria-pressed', 'true');
    await first.getByRole('button', { name: 'Send test steps to yaw' }).click();
    await shows(alerts(page), /yaw by ±0.1 rad/);
    await eventually(async () => (await page.getByLabel('Amplitude').inputValue()) === '0.1');
    await first.getByRole('button', { name: 'Unplug the gimbal' }).click();
    await shows(alerts(page), /Gimbal is offline/);
    await first.getByRole('button', { name: 'Dismiss' }).click();
    expect(await first.count()).to.equal(0);
    const sim = page.getByRole('region', { name: 'Simulator' });
    await sim.getByText('Simulator').click();
    await shows(sim.getByRole('list'), /gimbal: powered/);
    for (const target of ['gimbal', 'chassis', 'bus', 'pin']) {
      const offered = sim.getByRole('group', { name: `Faults of the ${target}` }).getByRole('button');
      const names = (await faultsOf(target)).map(name => WORDS[name] ?? name);
      expect((await offered.allTextContents()).sort(), target).to.deep.equal(names.sort());
    }
    await sim
      .getByRole('group', { name: 'Faults of the gimbal' })
      .getByRole('button', { name: 'plug', exact: true })
      .click();
    await shows(alerts(page), /^(?!.*is offline).*Test steps ended [\d:]+: gimbal was offline/);
    const log = page.getByRole('region', { name: 'Log' });
    await log.getByText('Log').click();
    await post('/api/stop');
    await post('/api/laser', { action: 'on' });
    await log.getByRole('button', { name: 'refused' }).click();
    await shows(log.locator('li').first(), /Laser.*refused \(stopped\)/);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await log.getByLabel('Search the log').fill('nothing like it');
    await eventually(async () => (await log.locator('li').count()) === 0);
  });
});
