import { rm } from 'node:fs/promises';
import { get as httpGet } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Request } from 'playwright-core';
import {
  alerts,
  card,
  consoleInBrowser,
  eventually,
  field,
  has,
  hide,
  mode,
  save,
  shows,
} from './console-page.js';
import { holding } from './held-requests.js';

describe('the console whose answers come late, or after a restart', function () {
  this.timeout(60_000);
  const robot = consoleInBrowser();
  const { open, get, post } = robot;
  const gainsOf = async (unit: string) => (await get(`/api/${unit}/pidconfig`)).body;
  const statusOf = async (unit: string) => (await get('/api/status')).body[unit];
  const isAsked = async (asked: readonly string[], what: readonly string[]) =>
    eventually(async () => asked.join() === what.join());
  /** A trial of the chassis that is not answered until it is released. */
  const trying = async () => {
    const page = await open();
    const kp = field(page, 'Speed loop kp');
    const { asked, release } = await holding(page, /pidconfig\/trial/, 'POST');
    await kp.fill('20');
    await kp.press('Enter');
    await isAsked(asked, ['POST']);
    return { page, kp, asked, release };
  };
  /** `between`: what happens to its files meanwhile. */
  const restart = async (between?: () => Promise<void>) => {
    const { port } = new URL(robot.url);
    await robot.daemon.kill();
    await between?.();
    await robot.startDaemon(port);
  };

  it('does not try after a STOP what waited for its turn before', async () => {
    const { page, kp, asked, release } = await trying();
    await kp.fill('21');
    await kp.press('Enter');
    await page.locator('.stop').click();
    await shows(alerts(page), /Stopped:/);
    release();
    await page.evaluate("fetch('/healthz')");
    expect(asked).to.deep.equal(['POST']);
  });

  it('does not try after a STOP what waited for the end of the trial before', async () => {
    const page = await open();
    const kp = field(page, 'Speed loop kp');
    await kp.fill('20');
    await kp.press('Enter');
    await shows(alerts(page), /this page tries/);
    const { asked, release } = await holding(page, /pidconfig\/trial/, 'DELETE');
    await kp.press('Control+z');
    await eventually(async () => asked.includes('DELETE'));
    const before = asked.length;
    await kp.fill('21');
    await kp.press('Enter');
    await page.locator('.stop').click();
    await shows(alerts(page), /Stopped:/);
    release();
    await page.evaluate("fetch('/healthz')");
    expect(asked.slice(before)).to.deep.equal([]);
  });

  it('asks on for its trial after a STOP, and hears that it has ended', async () => {
    const page = await open();
    const kp = field(page, 'Speed loop kp');
    await kp.fill('20');
    await kp.press('Enter');
    await shows(alerts(page), /this page tries/);
    let stops = 0;
    await page.route('**/api/stop', () => {
      stops += 1;
    });
    await page.locator('.stop').click();
    // A renewal of each second falls into the stop, and is not sent: the fifth STOP comes after 1.8 s.
    await eventually(async () => stops >= 5);
    await page.unroute('**/api/stop');
    await shows(alerts(page), /Stopped:/);
    await page.waitForRequest(request => request.method() === 'POST' && /trial/.test(request.url()));
  });

  it('undoes a trial that is not answered yet', async () => {
    const { page, kp, asked, release } = await trying();
    await kp.press('Control+z');
    release();
    await isAsked(asked, ['POST', 'DELETE']);
    await eventually(async () => (await statusOf('chassis')).gains.trial === undefined);
    await shows(alerts(page), /All well/);
  });

  it('changes a trial that is not answered yet, and goes on with it when a change is refused', async () => {
    const { page, kp, release } = await trying();
    await kp.fill('21');
    await kp.press('Enter');
    release();
    await eventually(async () => (await robot.truth()).chassis.gains.speed.kp === 21);
    await shows(alerts(page), /this page tries/);
    const id = (await statusOf('chassis')).gains.trial?.id;
    let refusals = 0;
    await page.unroute(/pidconfig\/trial/);
    await page.route(/pidconfig\/trial/, route => {
      if (!/"kp":22\b/.test(route.request().postData() ?? '')) return route.continue();
      refusals += 1;
      return route.fulfill({ status: 503, json: { code: 'unit-busy', detail: 'The unit is busy.' } });
    });
    const before = (await statusOf('chassis')).gains.trial?.endsAtT;
    await kp.fill('22');
    await kp.press('Enter');
    await shows(card(page, 'Chassis').getByRole('alert'), /busy/);
    // Two renewals later.
    await eventually(async () => (await statusOf('chassis')).gains.trial?.endsAtT > before + 2);
    expect((await statusOf('chassis')).gains.trial?.id).to.equal(id);
    expect(refusals).to.equal(1);
    await kp.press('Control+z');
    await shows(alerts(page), /All well/);
  });

  it('saves once, however often Ctrl+Enter is pressed before the answer', async () => {
    const page = await open();
    const kp = field(page, 'Speed loop kp');
    const { asked, release } = await holding(page, /chassis\/pidconfig(\?|$)/, 'POST');
    await kp.fill('33');
    await kp.press('Control+Enter');
    await kp.press('Control+Enter');
    release();
    await shows(card(page, 'Chassis'), /Saved: Speed loop kp/);
    expect(asked.filter(method => method === 'POST')).to.have.lengthOf(1);
    expect(await card(page, 'Chassis').getByRole('alert').count()).to.equal(0);
  });

  it('bases a save on its last one, so that it undoes none that somebody else made between', async () => {
    const page = await open();
    const kp = field(page, 'Speed loop kp');
    await kp.fill('36');
    const { release } = await holding(page, /chassis\/pidconfig$/, 'GET');
    await kp.press('Control+Enter');
    await shows(card(page, 'Chassis'), /Saved: Speed loop kp/);
    const mine = await gainsOf('chassis');
    await post('/api/chassis/pidconfig', { ...mine, position: { kp: 4, ki: 0, kd: 0 } });
    const answered = page.waitForResponse(/chassis\/pidconfig\?baseRevision=/);
    await kp.fill('37');
    await kp.press('Control+Enter');
    expect((await answered).status()).to.equal(409);
    release();
    await shows(card(page, 'Chassis').getByRole('alert'), /Someone else saved meanwhile/);
    await post('/api/chassis/pidconfig', mine);
  });

  it('neither tries nor undoes what is on its way to be kept', async () => {
    const page = await open();
    const kp = field(page, 'Speed loop kp');
    const tried: string[] = [];
    page.on('request', request => /trial/.test(request.url()) && tried.push(request.method()));
    let refuse = (): void => undefined;
    const refused = new Promise<void>(resolve => {
      refuse = resolve;
    });
    await page.route(/chassis\/pidconfig(\?|$)/, async route => {
      if (route.request().method() !== 'POST') return route.continue();
      await refused;
      await route.fulfill({ status: 503, json: { code: 'unit-busy', detail: 'The unit is busy.' } });
    });
    await kp.fill('35');
    await kp.press('Control+Enter');
    await shows(card(page, 'Chassis'), /Saving/);
    await kp.press('Enter');
    await kp.press('Control+z');
    refuse();
    await shows(card(page, 'Chassis').getByRole('alert'), /busy/);
    expect(await kp.inputValue()).to.equal('35');
    expect(tried).to.deep.equal([]);
  });

  it('takes no gains for the stored ones that were replaced before it had them', async () => {
    const page = await open();
    await page.clock.install();
    const kp = field(page, 'Speed loop kp');
    let fails = true;
    await page.route(/chassis\/pidconfig$/, route => (fails ? route.abort() : route.continue()));
    const mine = await gainsOf('chassis');
    const saveKp = (value: number) =>
      post('/api/chassis/pidconfig', { ...mine, speed: { ...mine.speed, kp: value } });
    const failed = page.waitForEvent('requestfailed');
    await saveKp(61);
    await failed;
    fails = false;
    await saveKp(62);
    await eventually(async () => (await kp.inputValue()) === '62');
    await page.clock.runFor(1500);
    await page.evaluate(`fetch('/healthz')`);
    await kp.fill('63');
    await kp.press('Control+Enter');
    await shows(card(page, 'Chassis'), /Saved: Speed loop kp|meanwhile/);
    expect((await gainsOf('chassis')).speed.kp).to.equal(63);
  });

  it('shows what somebody saved after its own save, also when its own answer comes last', async () => {
    const page = await open();
    const kp = field(page, 'Speed loop kp');
    const { release } = await holding(page, /chassis\/pidconfig(\?|$)/, 'POST', 'after');
    await kp.fill('34');
    await save(page, 'Chassis').click();
    await eventually(async () => (await gainsOf('chassis')).speed.kp === 34);
    const mine = await gainsOf('chassis');
    const loaded = page.waitForResponse(async response => /"kp":55\b/.test(await response.text()));
    await post('/api/chassis/pidconfig', { ...mine, speed: { ...mine.speed, kp: 55 } });
    await loaded;
    release();
    await shows(card(page, 'Chassis'), /Saved: Speed loop kp/);
    await eventually(async () => (await kp.inputValue()) === '55');
  });

  it('keeps what it heard live while the log was on its way', async () => {
    const page = await open({ patient: true });
    const { asked, release } = await holding(page, /\/api\/log\?/, 'GET', 'after');
    const log = page.getByRole('region', { name: 'Log' });
    await log.getByText('Log').click();
    await shows(log, /resume/);
    // It asks for the log anew.
    await hide(page, true);
    await hide(page, false);
    await eventually(async () => asked.length >= 1);
    await shows(page.locator('.link'), /Live/);
    await post('/api/chassis/mode/switch', { mode: 'teleport' });
    await shows(log.locator('li').first(), /invalid-request/);
    const answered = page.waitForResponse(/\/api\/log\?/);
    release();
    await (await answered).finished();
    await shows(log, /resume/);
    await shows(log.locator('li').first(), /invalid-request/);
  });

  it('asks again who may do what, when access was not to be had as it was opened', async () => {
    const page = await open();
    let isThere = false;
    await page.route(/\/api\/session/, route => {
      if (isThere) return route.continue();
      return route.fulfill({ json: { access: 'unavailable', name: null, role: null, rights: ['read'] } });
    });
    await page.reload();
    await has(mode(page, 'Chassis', 'debug'), 'aria-disabled', 'true');
    isThere = true;
    await post('/api/gimbal/mode/switch', { mode: 'debug' });
    await has(mode(page, 'Chassis', 'debug'), 'aria-disabled', null);
  });

  it('says that too many pages are open, nothing of that when the daemon is gone, and is live when there is room', async () => {
    const page = await open();
    await shows(page.locator('.link'), /Live/);
    await page.goto('about:blank');
    await eventually(async () => (await get('/api/status')).body.streams === 0);
    const readers = Array.from({ length: 32 }, () => httpGet(`${robot.url}/api/events`, { agent: false }));
    for (const reader of readers) reader.on('error', () => undefined);
    await eventually(async () => (await get('/api/status')).body.streams === 32);
    await page.goto(robot.url);
    await shows(page.locator('.link'), /Too many pages/);
    const { port } = new URL(robot.url);
    await robot.daemon.kill();
    await shows(page.locator('.link'), /Connecting/);
    await robot.startDaemon(port);
    await shows(page.locator('.link'), /Live/);
  });

  it('ends a tuning that a killed daemon does not know any more', async () => {
    await post('/api/gimbal/mode/switch', { mode: 'debug' });
    const page = await open();
    await post('/api/gimbal/autotune', { loop: 'angle_pitch', leaseS: 5 });
    await shows(alerts(page), /Angle loop, pitch is tuned by/);
    await restart();
    await shows(page.locator('.link'), /Live/);
    await eventually(async () => !/is tuned by/.test((await alerts(page).textContent()) ?? ''));
  });

  it('draws the newest step although a daemon that lost its steps gave its number to another before', async () => {
    const page = await open();
    const fetched = new Set<string>();
    let again = false;
    const stepOf = (request: Request) => /step\?loop=angle_yaw&number=\d+/.exec(request.url())?.[0] ?? '';
    page.on('request', request => {
      again ||= fetched.has(stepOf(request));
    });
    // One that is lost is fetched again.
    page.on('requestfinished', request => {
      if (stepOf(request) !== '') fetched.add(stepOf(request));
    });
    const excite = async () => {
      const does = async (path: string, body: unknown) =>
        eventually(async () => (await post(path, body)).status === 200);
      await does('/api/gimbal/mode/switch', { mode: 'debug' });
      await does('/api/gimbal/excitation', { loop: 'angle_yaw', amplitude: 0.1, periodS: 0.6 });
    };
    await excite();
    await eventually(async () => fetched.size > 2);
    expect(again).to.equal(false);
    await restart(() => rm(join(robot.state, 'steps'), { recursive: true, force: true }));
    await excite();
    await eventually(async () => again);
  });
});
