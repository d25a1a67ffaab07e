import { expect } from 'chai';
import { accessibilityFaults } from '../support/browser.js';
import { alerts, card, consoleInBrowser, eventually, field, has, PHONE, shows } from './console-page.js';

describe('a page used for tuning', function () {
  this.timeout(180_000);
  const robot = consoleInBrowser();
  const { open, get, post } = robot;
  const gainsOf = async (unit: string) => (await get(`/api/${unit}/pidconfig`)).body;
  const statusOf = async (unit: string) => (await get('/api/status')).body[unit];
  const scaled = (gains: Record<string, number>, by: number) =>
    Object.fromEntries(Object.entries(gains).map(([name, value]) => [name, value * by]));

  it('tries gains at Enter, ends the trial at Ctrl+Z and saves the gains at Ctrl+Enter, and every open page says who tries gains', async () => {
    const page = await open();
    const match = await open(PHONE);
    const kp = field(page, 'Speed loop kp');
    const before = await gainsOf('chassis');
    await kp.fill('30');
    await kp.press('Enter');
    await shows(alerts(page), /Chassis runs gains that this page tries/);
    await shows(alerts(match), /Chassis runs gains that 127\.0\.0\.1 tries, for \d s/);
    expect((await robot.truth()).chassis.gains.speed.kp).to.equal(30);
    expect(await gainsOf('chassis')).to.deep.equal(before);
    const trial = async () => (await statusOf('chassis')).gains.trial;
    const { id, endsAtT } = (await trial()) ?? {};
    await eventually(async () => (await trial())?.endsAtT > endsAtT);
    const changed = page.waitForRequest(
      request => request.url().endsWith('/trial') && /"kp":31\b/.test(request.postData() ?? ''),
    );
    await kp.press('ArrowUp');
    await kp.press('Enter');
    await eventually(async () => (await robot.truth()).chassis.gains.speed.kp === 31);
    expect((await changed).postDataJSON().id).to.equal(id);
    await kp.press('Control+z');
    await eventually(async () => (await statusOf('chassis')).gains.applied);
    expect(await kp.inputValue()).to.equal(String(before.speed.kp));
    await kp.fill('32');
    await kp.press('Enter');
    await shows(alerts(page), /this page tries/);
    await kp.press('Control+Enter');
    await shows(card(page, 'Chassis'), /Saved: Speed loop kp/);
    await shows(alerts(page), /All well/);
    expect((await gainsOf('chassis')).speed.kp).to.equal(32);
    expect((await statusOf('chassis')).gains.trial).to.equal(undefined);
  });

  it('says before a tuning how far each loop will move, and saves the better gains afterwards at one press of "Keep"', async () => {
    const page = await open();
    const { speed } = await gainsOf('chassis');
    const figures = { settlingS: 0.4, overshootPercent: 1, oscillation: null };
    const better = {
      gains: { ...speed, kp: speed.kp + 1 },
      figures,
      steps: [figures, { ...figures, settlingS: 0.3 }],
    };
    const found = { before: null, proposed: better, predicted: null, why: 'measured' };
    const ended = { id: '1', by: 'me', unit: 'chassis', loop: 'position', style: 'normal', words: [] };
    await page.route('**/api/chassis/autotune', async route => {
      const { loops } = route.request().postDataJSON() ?? {};
      const results = [
        { loop: 'speed', state: 'better', ...found },
        { loop: 'angle', state: 'skipped', ...found, proposed: null, why: 'a reason' },
      ];
      const { revision } = (await statusOf('chassis')).gains;
      const proposal = { revision, gains: {} };
      await route.fulfill({ json: { ...ended, ...found, loops, state: 'better', results, proposal } });
    });
    await page.getByRole('button', { name: 'Speed loop', exact: true }).first().click();
    const panel = page.getByRole('region', { name: 'Step response' });
    await panel.getByRole('button', { name: 'Tune…' }).click();
    await shows(
      panel,
      /Speed loop moves ±0\.3 m\/s .* for at most 45 s\. It ends .*off by 2\.5 m\/s\.All 3 move one after another: Speed loop ±0\.3 m\/s .*; Heading angle loop ±0\.3 rad .*; Position loop ±0\.3 m \(ends if off by 2\.5 m\)\. About 56 s in all.*put in debug mode first\. The laser goes dark/,
    );
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await panel.getByRole('button', { name: /^Tune all 3/ }).click();
    const report = page.getByRole('region', { name: 'Tuning' });
    await shows(
      report,
      /Speed loop.*→ 400 ms300 ms to 400 ms.*Better: settles now.*Heading angle loop.*Left \(skipped\): a reason\./,
    );
    const keep = report.getByRole('button', { name: 'Keep' });
    await report.getByLabel('Keep Speed loop').uncheck();
    await has(keep, 'aria-disabled', 'true');
    await report.getByLabel('Keep Speed loop').check();
    await keep.click();
    await shows(report, /Saved: Speed loop kp/);
    await report.getByRole('button', { name: 'Undo' }).click();
    await eventually(async () => (await gainsOf('chassis')).speed.kp === speed.kp);
  });

  it('during a tuning disables "Send test steps" and the "End" of test steps, and keeps the "End" of the tuning enabled', async () => {
    const page = await open();
    await robot.post('/api/chassis/mode/switch', { mode: 'debug' });
    await page.route('**/api/chassis/autotune', async route => {
      const begun = { id: '1', by: 'me', unit: 'chassis', loop: 'speed', loops: ['speed'], style: 'normal' };
      await route.fulfill({
        json: { ...begun, state: 'running', words: ['exciting'], results: [], proposal: null },
      });
    });
    await page.getByRole('button', { name: 'Speed loop', exact: true }).first().click();
    const panel = page.getByRole('region', { name: 'Step response' });
    const send = panel.getByRole('button', { name: 'Send test steps', exact: true });
    await eventually(() => send.isEnabled());
    await panel.getByRole('button', { name: 'Tune…' }).click();
    await panel.getByRole('button', { name: 'Tune Speed loop' }).click();
    await shows(panel, /A tuning moves this unit\..*Tuning Speed loop: exciting…/);
    expect(await send.isDisabled()).to.equal(true);
    const ends = await panel.getByRole('button', { name: 'End', exact: true }).all();
    expect(await Promise.all(ends.map(end => end.isEnabled()))).to.deep.equal([false, true]);
  });

  it('allows a selection of at most five step responses, and "Use these gains" fills in gains without a save', async () => {
    await robot.excite('gimbal', 'angle_yaw', 0.1, 0.6);
    // The browser starts afterwards, because a slow machine loses steps beside it.
    await eventually(async () => (await get('/api/gimbal/steps?loop=angle_yaw')).body.length > 7);
    await robot.excite('gimbal', 'angle_yaw', 0, 0.6);
    const page = await open();
    const runs = page.getByRole('region', { name: 'Runs' });
    const marked = runs.getByRole('row').filter({ hasText: 'best so far' });
    await eventually(async () => {
      const [best] = (await get('/api/gimbal/steps/best?loop=angle_yaw')).body;
      return (await marked.getByLabel(`Draw run ${best.number}`, { exact: true }).count()) === 1;
    });
    for (let row = 1; row <= 6; row += 1) await runs.getByRole('checkbox').nth(row).check();
    expect(await runs.getByRole('checkbox', { checked: true }).count()).to.equal(5);
    const darkened = page.waitForRequest(/laser/);
    await runs.focus();
    for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('ArrowDown');
    const first = runs.getByRole('checkbox').nth(1);
    expect(await first.evaluate(node => node === node.ownerDocument.activeElement)).to.equal(true);
    await page.keyboard.press('Tab');
    expect(await runs.locator(':focus').count()).to.equal(0);
    await runs.getByRole('checkbox').nth(6).press('l');
    await darkened;
    const before = await gainsOf('gimbal');
    await post('/api/gimbal/pidconfig', { ...before, angle_yaw: scaled(before.angle_yaw, 0.5) });
    const kp = field(page, 'Angle loop, yaw kp');
    await eventually(async () => Number(await kp.inputValue()) === before.angle_yaw.kp / 2);
    await runs
      .getByRole('button', { name: /Use these gains/ })
      .first()
      .click();
    expect(Number(await kp.inputValue())).to.equal(before.angle_yaw.kp);
    expect((await gainsOf('gimbal')).angle_yaw.kp).to.equal(before.angle_yaw.kp / 2);
  });
});
