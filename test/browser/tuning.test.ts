import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { accessibilityFaults } from '../support/browser.js';
import { alerts, card, consoleInBrowser, eventually, field, shows } from './console-page.js';

describe('tuning on the page', function () {
  this.timeout(180_000);
  const robot = consoleInBrowser();
  const { open, get, post } = robot;
  const step = (page: Page) => page.getByRole('region', { name: 'Step response' });
  const report = (page: Page) => page.getByRole('region', { name: 'Tuning' });
  const gainsOf = async (unit: string) => (await get(`/api/${unit}/pidconfig`)).body;
  const statusOf = async (unit: string) => (await get('/api/status')).body[unit];
  const scaled = (gains: Record<string, number>, by: number) =>
    Object.fromEntries(Object.entries(gains).map(([name, value]) => [name, value * by]));
  const events = async () =>
    (await get('/api/log?after=0')).body.events as { what: string; unit?: string; t: number }[];

  it('leads from gains of x0.3 to saved good gains in four actions, and says before what will move', async () => {
    const saved = await gainsOf('gimbal');
    await post('/api/gimbal/pidconfig', { ...saved, angle_pitch: scaled(saved.angle_pitch, 0.3) });
    const page = await open();
    await page.getByRole('button', { name: 'Angle loop, pitch', exact: true }).first().click();
    await field(page, 'Visual loop, yaw kp').fill('0.31');
    await step(page).getByRole('button', { name: 'Tune…' }).click();
    await shows(step(page), /Angle loop, pitch moves ±0.09 rad .* every 1 s, for at most 45 s/);
    await shows(step(page), /put in debug mode first\. The laser goes dark/);
    expect((await statusOf('gimbal')).mode).to.equal('manual');
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await step(page).getByRole('button', { name: 'Tune Angle loop, pitch' }).click();
    await shows(alerts(page), /Gimbal Angle loop, pitch is tuned by 127\.0\.0\.1: \w/);
    const keep = report(page).getByRole('button', { name: 'Keep' });
    await keep.waitFor({ timeout: 90_000 });
    await shows(report(page), /settles in [\d.]+ ms instead of [\d.]+ ms.*predicted [\d.]+ ms/);
    expect(await gainsOf('gimbal')).to.deep.equal({
      ...saved,
      angle_pitch: scaled(saved.angle_pitch, 0.3),
    });
    await keep.click();
    await shows(report(page), /Saved\./);
    const { angle_pitch: tuned, visual_yaw: edited } = await gainsOf('gimbal');
    expect(edited).to.deep.equal(saved.visual_yaw);
    expect(await field(page, 'Visual loop, yaw kp').inputValue()).to.equal('0.31');
    expect(tuned.kp).to.be.greaterThan(0.3 * saved.angle_pitch.kp);
    const all = await events();
    const begun = all.findLast(({ what, unit }) => what === 'mode' && unit === 'gimbal');
    expect(all.findLast(({ what }) => what === 'save')!.t - begun!.t).to.be.lessThan(60);
    await shows(page.getByRole('region', { name: 'Runs' }), /trial/);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
  });

  it('tunes the loops of a unit from the inside out, saves what measures better before the next, and ends when asked', async function () {
    this.timeout(400_000);
    const saved = await gainsOf('chassis');
    const weak = { ...saved, speed: scaled(saved.speed, 0.3), position: scaled(saved.position, 0.3) };
    await post('/api/chassis/pidconfig', weak);
    const page = await open();
    await page.getByRole('button', { name: 'Position loop', exact: true }).first().click();
    const said = async () => (await report(page).textContent()) ?? '';
    const isNext = async () => /Speed loop: settles in.*Tuning Heading angle loop\./s.test(await said());
    // A machine that freezes the daemon for a second aborts a tuning, rightly; then all begins anew.
    while (!(await isNext())) {
      const dismiss = report(page).getByRole('button', { name: 'Dismiss' });
      if ((await dismiss.count()) > 0) await dismiss.click();
      await step(page).getByRole('button', { name: 'Tune…' }).click();
      await step(page)
        .getByRole('button', { name: /^Tune all 3/ })
        .click();
      await eventually(async () => (await isNext()) || /aborted/.test(await said()));
    }
    expect((await gainsOf('chassis')).speed.kp).to.be.greaterThan(weak.speed.kp!);
    await report(page).getByRole('button', { name: 'End' }).click();
    await eventually(async () => /Heading angle loop: aborted/.test(await said()));
    const { tune } = (await get('/api/chassis/autotune')).body;
    expect([tune.loop, tune.state]).to.deep.equal(['angle', 'aborted']);
    expect((await gainsOf('chassis')).position).to.deep.equal(weak.position);
    expect((await statusOf('chassis')).gains).to.include({ applied: true });
    await post('/api/chassis/pidconfig', saved);
  });

  it('shows a tuning under way from the moment that the page is opened', async () => {
    await post('/api/gimbal/mode/switch', { mode: 'debug' });
    const page = await open();
    // Whatever the stream will say of it comes too late.
    await page.addInitScript(() => {
      const { addEventListener } = EventSource.prototype;
      EventSource.prototype.addEventListener = function (
        this: EventSource,
        type: string,
        ...rest: unknown[]
      ) {
        if (type !== 'tune') Reflect.apply(addEventListener, this, [type, ...rest]);
      };
    });
    const tuned = (id?: string) => post('/api/gimbal/autotune', { loop: 'angle_pitch', leaseS: 5, id });
    const { id } = (await tuned()).body;
    await page.reload();
    await eventually(async () => {
      await tuned(id);
      return /Angle loop, pitch is tuned by 127\.0\.0\.1/.test((await alerts(page).textContent()) ?? '');
    });
    await page.getByRole('button', { name: 'End the tuning of the gimbal' }).click();
    await eventually(async () => (await get('/api/gimbal/autotune')).body.tune.state === 'aborted');
  });

  it('tries by Enter, keeps by Ctrl+Enter, undoes by Ctrl+Z, and says on every page what is tried and by whom', async () => {
    const page = await open();
    const match = await open({ width: 390, height: 844, touch: true, hash: '#match' });
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

  it('brings the saved gains back within the lease and a second when the page is killed in a trial', async () => {
    const page = await open();
    const kp = field(page, 'Speed loop kp');
    await kp.fill('20');
    await kp.press('Enter');
    await shows(alerts(page), /this page tries/);
    let endsAtT = 0;
    const closed = page.context().close();
    await eventually(async () => {
      const { trial, applied } = (await statusOf('chassis')).gains;
      endsAtT = trial?.endsAtT ?? endsAtT;
      return applied;
    });
    await closed;
    const { kp: saved } = (await gainsOf('chassis')).speed;
    expect((await robot.truth()).chassis.gains.speed.kp).to.be.closeTo(saved, 1e-6);
    const ended = (await events()).findLast(({ what }) => what === 'trial-ended');
    expect(ended!.t - endsAtT).to.be.lessThan(1);
  });

  it('refuses a second tuner in words that say whose trial it is, and lets anyone end it', async () => {
    // It renews its trial until somebody ends that.
    const other = await open();
    await field(other, 'Position loop kp').fill('4');
    await field(other, 'Position loop kp').press('Enter');
    const page = await open();
    await shows(alerts(page), /127\.0\.0\.1 tries/);
    const trial = async () => (await statusOf('chassis')).gains.trial?.id;
    const held = await trial();
    await card(page, 'Chassis').getByRole('button', { name: 'Speed loop', exact: true }).click();
    const kp = field(page, 'Speed loop kp');
    await kp.fill('20');
    await kp.press('Enter');
    await shows(card(page, 'Chassis').getByRole('alert'), /being tried on this unit by 127\.0\.0\.1/);
    expect(held)
      .to.be.a('string')
      .and.to.equal(await trial());
    const end = page.getByRole('button', { name: 'End the trial of the chassis' });
    await end.press('Enter');
    await eventually(async () => (await end.count()) === 0);
    const posted: string[] = [];
    page.on('request', request => request.method() === 'POST' && posted.push(request.url()));
    // The second press of somebody who is not sure of the first, and a key where no gains are shown.
    await page.keyboard.press('Enter');
    await page.evaluate("location.hash = '#match'");
    await page.locator('.match').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.evaluate("fetch('/healthz')");
    expect(posted).to.deep.equal([]);
    await eventually(async () => (await statusOf('chassis')).gains.applied);
  });

  it('lays up to five runs under the newest, and takes the gains of one', async () => {
    await post('/api/gimbal/mode/switch', { mode: 'debug' });
    await post('/api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.1, periodS: 0.6 });
    const page = await open();
    const runs = page.getByRole('region', { name: 'Runs' });
    await eventually(async () => (await runs.getByRole('checkbox').count()) > 7);
    await post('/api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0, periodS: 0.6 });
    const marked = runs.getByRole('row').filter({ hasText: 'best so far' });
    await eventually(async () => {
      const [best] = (await get('/api/gimbal/steps/best?loop=angle_yaw')).body;
      return (await marked.getByLabel(`Draw run ${best.number}`, { exact: true }).count()) === 1;
    });
    for (let row = 1; row <= 6; row += 1) await runs.getByRole('checkbox').nth(row).check();
    expect(await runs.getByRole('checkbox', { checked: true }).count()).to.equal(5);
    const darkened = page.waitForRequest(/laser/);
    await runs.getByRole('checkbox').nth(6).press('l');
    await darkened;
    const before = await gainsOf('gimbal');
    await post('/api/gimbal/pidconfig', { ...before, angle_yaw: scaled(before.angle_yaw, 0.5) });
    const kp = field(page, 'Angle loop, yaw kp');
    await eventually(async () => Number(await kp.inputValue()) === before.angle_yaw.kp / 2);
    await runs
      .getByRole('button', { name: /Take these/ })
      .first()
      .click();
    expect(Number(await kp.inputValue())).to.equal(before.angle_yaw.kp);
    expect((await gainsOf('gimbal')).angle_yaw.kp).to.equal(before.angle_yaw.kp / 2);
  });
});
